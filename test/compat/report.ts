import Table from 'cli-table3'
import colors from 'picocolors'

import { codecs } from './client.ts'

export interface CheckResult {
  /** `produce`: CLIENT wrote. `consume`: CLIENT read what PRODUCER wrote. `group`: CLIENTs shared a topic. `client-group`: the scenario of groups with CLIENT. `dump`: Kafka's own reader of files. */
  readonly check: 'produce' | 'consume' | 'group' | 'client-group' | 'dump'
  readonly client: string
  readonly producer?: string
  readonly codec?: string
  readonly dataset?: string
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly ms: number
  /** Why it failed or was skipped. */
  readonly reason?: string
  /** Of what was read: equal for all readers of one topic. */
  readonly sha256?: string
}

export interface Report {
  readonly peer: string
  readonly bootstrap: string
  readonly records: number
  readonly versions: Readonly<Record<string, string>>
  readonly results: readonly CheckResult[]
  readonly seconds: number
}

function unique<T> (items: readonly T[]): T[] {
  return [...new Set(items)]
}

function cell (results: readonly CheckResult[]): string {
  if (results.length === 0) return colors.dim('·')
  const count = (status: CheckResult['status']): number => results.filter(r => r.status === status).length
  const failed = count('failed')
  const passed = count('passed')
  if (failed > 0) return colors.red(`${failed} of ${results.length} FAILED`)
  if (passed === 0) return colors.yellow('skipped')
  const seconds = (results.reduce((sum, r) => sum + r.ms, 0) / 1000).toFixed(1)
  return colors.green(passed === 1 ? `ok ${seconds} s` : `${passed} ok ${seconds} s`)
}

function table (title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const grid = new Table({
    head: [title, ...head].map(text => colors.bold(text)),
    chars: { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '',
      'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  grid.push(...rows.map(row => [...row]))
  return grid.toString()
}

function producedTable ({ results, versions }: Report): string {
  const produced = results.filter(r => r.check === 'produce')
  const columns = [...codecs, 'binary'] as const
  return table('writes with', columns, unique(produced.map(r => r.client)).map(client => [
    `${client} ${versions[client] ?? ''}`,
    ...columns.map(column => cell(produced.filter(r => r.client === client &&
      (column === 'binary' ? r.dataset === 'binary' : r.codec === column && r.dataset !== 'binary')))),
  ]))
}

function consumedTable ({ results, versions }: Report): string {
  const consumed = results.filter(r => r.check === 'consume')
  const named = Object.keys(versions)
  const producers = named.filter(client => consumed.some(r => r.producer === client))
  const consumers = named.filter(client => consumed.some(r => r.client === client))
  return table('reads what was written by', producers, consumers.map(client => [
    `${client} ${versions[client] ?? ''}`,
    ...producers.map(producer => cell(consumed.filter(r => r.client === client && r.producer === producer))),
  ]))
}

function name ({ check, client, producer, codec, dataset }: CheckResult): string {
  const what = [codec, dataset].filter(Boolean).join(', ')
  if (check === 'group') return `a group of ${client}`
  if (check === 'client-group') return `groups by ${client}`
  if (check === 'dump') return `DumpLogSegments reads ${client}'s files`
  return check === 'produce' ? `${client} writes (${what})` : `${client} reads ${producer} (${what})`
}

export function tally (results: readonly CheckResult[]): string {
  const count = (status: CheckResult['status']): number => results.filter(r => r.status === status).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}

/** For a person: two tables, then every failure with its reason, then what was skipped and why, once a reason. */
export function printed (report: Report): string {
  const { results } = report
  const lines = [
    `compat: ${report.peer} at ${report.bootstrap}, ${report.records.toLocaleString('en')} records a topic, ${report.seconds} s`,
    '', producedTable(report), '', consumedTable(report), '',
  ]
  for (const result of results.filter(r => r.check === 'dump' || (r.check.endsWith('group') && r.status === 'passed'))) {
    lines.push(`${name(result)}: ${cell([result])} ${colors.dim(result.reason ?? '')}`, '')
  }
  for (const failure of results.filter(r => r.status === 'failed')) {
    lines.push(colors.red(`FAILED  ${name(failure)}`), ...(failure.reason ?? '').split('\n').map(line => `        ${line}`), '')
  }
  const skipped = results.filter(r => r.status === 'skipped')
  for (const reason of unique(skipped.map(r => r.reason))) {
    const of = skipped.filter(r => r.reason === reason)
    lines.push(colors.yellow(`SKIPPED ${of.length}: ${unique(of.map(r => r.client)).join(', ')}: ${reason}`))
  }
  if (skipped.length > 0) lines.push('')
  return lines.join('\n')
}
