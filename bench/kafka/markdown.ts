import { type Peer } from './brokers.ts'
import { type Column, type Row, type Sample } from './rows.ts'

/** Samples of one row by peer name, a round each. */
export type RowSamples = ReadonlyMap<string, readonly Sample[]>

export interface Summary { readonly median: number; readonly spread: number }

/** Median and half of the distance between the largest and the smallest, as a part of the median. */
export function summarize (values: readonly number[]): Summary | undefined {
  if (values.length === 0) return undefined
  const sorted = [...values].sort((a, b) => a - b)
  if (sorted.some(Number.isNaN)) return { median: NaN, spread: NaN }
  const middle = sorted.length >> 1
  const median = sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, spread: (sorted.at(-1)! - sorted[0]!) / 2 / median }
}

function shownNumber (value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`
  if (value >= 1e3) return value.toLocaleString('en', { maximumFractionDigits: 0 })
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function shown (summary: Summary | undefined, unit: string): string {
  if (!summary) return '–'
  const { median, spread } = summary
  if (Number.isNaN(median)) return 'not sustained'
  const behind = spread > 0 ? ` ±${(spread * 100).toFixed(0)} %` : ''
  return unit === 'µs' && median >= 10_000
    ? `${shownNumber(median / 1000)} ms${behind}`
    : `${shownNumber(median)} ${unit}${behind}`
}

/** Of each round the ratio, since its two figures had the same machine: their median, and the smallest and the largest. */
function ratio (ours: readonly number[], theirs: readonly number[]): string {
  const ratios = ours.slice(0, theirs.length).map((value, round) => value / theirs[round]!)
  const summary = summarize(ratios)
  if (!summary || Number.isNaN(summary.median)) return '–'
  const range = ratios.length > 1 ? ` (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})` : ''
  return `**${summary.median.toFixed(2)}x**${range}`
}

function line (cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

type Pick = (samples: readonly Sample[]) => readonly number[]

/** One line for what `pick` takes from the samples: each peer's figure, and a ratio behind each pair of one promise. */
function figures (samples: RowSamples, peers: readonly Peer[], unit: string, pick: Pick): string[] {
  const of = (peer: Peer): readonly number[] => pick(samples.get(peer.name) ?? [])
  return peers.flatMap(peer => {
    const cells = [shown(summarize(of(peer)), unit)]
    if (peer.program === 'kafka') {
      const ours = peers.find(p => p.program === 'millrace' && p.promise === peer.promise)
      if (ours) cells.push(ratio(of(ours), of(peer)))
    }
    return cells
  })
}

function heads (peers: readonly Peer[]): string[] {
  return peers.flatMap(peer => [peer.title,
    ...peer.program === 'kafka' && peers.some(p => p.program === 'millrace' && p.promise === peer.promise) ? ['ratio'] : []])
}

function tableOf (head: readonly string[], lines: readonly string[]): string {
  return [line(head), line(head.map((_, i) => i === 0 ? '---' : '---:')), ...lines].join('\n')
}

/** The tables of docs/performance.md: medians with their spread, ratios, and the broker's CPU for each message. */
export function markdown (rows: readonly Row[], all: ReadonlyMap<string, RowSamples>, peers: readonly Peer[]): string {
  const measured = rows.filter(row => all.has(row.name))
  const main = measured.flatMap(row => row.columns.map((column: Column, i) =>
    line([column.label, column.aim ?? '', ...figures(all.get(row.name)!, peers, column.unit,
      samples => samples.map(({ values }) => values[i]!))])))
  const withCpu = measured.filter(row => [...all.get(row.name)!.values()].flat().some(s => s.cpuNsPerMessage !== undefined))
  const cpu = withCpu.map(row => line([row.columns[0]!.label.replace(/, p50$/, ''), ...figures(all.get(row.name)!, peers, 'ns',
    samples => samples.flatMap(({ cpuNsPerMessage }) => cpuNsPerMessage ?? []))]))
  const cpuTable = ['', 'CPU of the broker for each message:', '', tableOf(['', ...heads(peers)], cpu)]
  return [tableOf(['', 'aim', ...heads(peers)], main), ...cpu.length > 0 ? cpuTable : []].join('\n')
}
