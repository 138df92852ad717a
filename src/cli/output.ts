import { stripVTControlCharacters } from 'node:util'
import Table from 'cli-table3'
import pc from 'picocolors'
import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'

/** `text` for people; `json` for programs: its shape is part of the contract, bytes are base64. */
export type OutputFormat = 'text' | 'json'

/** Wrong use of a command: exit code 2. */
export class UsageError extends MillraceError {
  constructor(reason: string) {
    super('MR_CLI_USAGE', { reason })
  }
}

/** Standard output in one piece, so that what a pipe reads is never cut by an early exit. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return each.toString()
    if (each instanceof Uint8Array) return Buffer.from(each).toString('base64')
    if (each instanceof Map) return Object.fromEntries(each) as unknown
    return each
  }))
}

export type Cell = string | number

export interface TableOptions {
  /** Columns that are aligned to the right, as numbers are; counted from 0. */
  readonly right?: readonly number[]
  /** So wide that the last column is folded into what the others leave of it; 0 folds nothing. */
  readonly width?: number
}

/** Columns for people; nothing but the head when there are no rows. */
export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[], options: TableOptions = {}): void {
  print(formatTable(head, rows, options))
}

export function formatTable(head: readonly string[], rows: readonly (readonly Cell[])[], { right = [], width = 0 }: TableOptions = {}): string {
  const none = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' }
  const lastWidth = width - widthOfOthers(head, rows)
  const table = new Table({
    head: head.map((each) => pc.bold(each)), chars: none, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: head.map((_each, index) => right.includes(index) ? 'right' : 'left'),
    ...lastWidth < foldedWidthMin ? {} : { colWidths: head.map((_each, index) => index === head.length - 1 ? lastWidth : null), wordWrap: true },
  })
  for (const row of rows) table.push(row.map(String))
  return table.toString().split('\n').map((line) => line.trimEnd()).join('\n')
}

/** Narrower than this, a column of text is better not folded. */
const foldedWidthMin = 24

function widthOfOthers(head: readonly string[], rows: readonly (readonly Cell[])[]): number {
  const widths = head.slice(0, -1).map((title, index) => Math.max(title.length, ...rows.map((row) => stripVTControlCharacters(String(row[index])).length)))
  return widths.reduce((sum, each) => sum + each + 2, 0)
}

/** One line on standard error, for what does not end the command. */
export function printError(error: unknown): void {
  process.stderr.write(`${describeError(error)}\n`)
}

export function printWarning(text: string): void {
  process.stderr.write(`${pc.yellow('warning')}: ${text}\n`)
}

/** One line: the code, what happened and what to do. */
export function describeError(error: unknown): string {
  if (isMillraceError(error)) return errorLine(error.code, error.message)
  return errorLine('MR_CLI_UNEXPECTED', error instanceof Error ? error.message : String(error))
}

export function errorLine(code: string, message: string): string {
  return `${pc.red('error')} ${code}: ${message.trim().replaceAll(/\s*\n\s*/g, ' ')}`
}

/** What somebody wrote, on the command line or in a configuration, is wrong: the same command fails again until it is corrected. */
const wrongUse = /^MR_(CLI_(USAGE|CONFIRM_NEEDED|NOT_AVAILABLE)$|CONFIG_|CLIENT_SETTING|HOST_(SETTING|PLUGIN_NOT_FOUND)|NET_INSECURE)/

/** 1: it failed. 2: wrong use. */
export function exitCodeOf(error: unknown): 1 | 2 {
  return isMillraceError(error) && wrongUse.test(error.code) ? 2 : 1
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString('en')} ${count === 1 ? one : many}`
