import Table from 'cli-table3'
import pc from 'picocolors'
import { isMillraceError } from '../kernel/errors/index.ts'

/** `text` for people; `json` for programs: its shape is part of the contract, bytes are base64. */
export type OutputFormat = 'text' | 'json'

/** Wrong use of a command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
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

/** Columns for people; nothing but the head when there are no rows. */
export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const none = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' }
  const table = new Table({ head: head.map((each) => pc.bold(each)), chars: none, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 } })
  for (const row of rows) table.push(row.map(String))
  print(table.toString())
}

/** One line on standard error: the code, what happened and what to do. */
export function describeError(error: unknown): string {
  if (isMillraceError(error)) return `${pc.red('error')} ${error.code}: ${error.message}`
  if (error instanceof UsageError) return `${pc.red('error')}: ${error.message}`
  const message = error instanceof Error ? error.message : String(error)
  return `${pc.red('error')}: ${message.replaceAll('\n', ' ')}`
}

export const exitCodeOf = (error: unknown): 1 | 2 => error instanceof UsageError ? 2 : 1
