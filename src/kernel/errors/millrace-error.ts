import { errorTable, type ErrorCode, type ErrorRow } from './error-table.ts'

const mark = Symbol.for('millrace.error')

/** What fills the template of an error. Never secrets: they are printed, logged and sent. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * An error of the table. Recognise it with `isMillraceError`, not with instanceof: two copies of the package may be loaded.
 * Details never hold secrets; they are printed, logged and sent.
 */
export class MillraceError extends Error {
  /** Always `MillraceError`. */
  override readonly name = 'MillraceError'
  readonly [mark] = true
  /** What to decide by. Stable, where the message is for people. */
  readonly code: ErrorCode
  /** What the message was made of: topic, partition, path and so on. Never secrets. */
  readonly details: ErrorDetails

  /** `words`: what it says in place of the template, where somebody else has said it in a whole sentence: a broker that was asked. */
  constructor(code: ErrorCode, details: ErrorDetails = {}, cause?: unknown, words?: string) {
    const { stackTraceLimit } = Error
    if (stackless) Error.stackTraceLimit = 0
    super(words ?? fillTemplate(errorTable[code].template, details), cause === undefined ? undefined : { cause })
    if (stackless) Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.details = details
  }

  /** The row of the table: kind, whether a retry may help, the Kafka code and the HTTP status. */
  get row(): ErrorRow {
    return errorTable[this.code]
  }
}

let stackless = false

/**
 * Runs `work`, in which errors of the table have no stack: they are answers to somebody who may have asked for thousands of things that are not there, and
 * a stack takes more time and memory than all the rest of such an answer. Other errors have theirs.
 */
export function withoutStacks<T>(work: () => T): T {
  const before = stackless
  stackless = true
  try {
    return work()
  } finally {
    stackless = before
  }
}

/** Whether it is an error of the table, with this code where one is named. True across two copies of the package, where instanceof is not. */
export function isMillraceError(error: unknown, code?: ErrorCode): error is MillraceError {
  if (typeof error !== 'object' || error === null || !(mark in error)) return false
  return code === undefined || (error as MillraceError).code === code
}

/** The message of an error that is answered and never thrown: an Error would look at the stack, which takes microseconds. */
export function errorText(code: ErrorCode, details: ErrorDetails): string {
  return fillTemplate(errorTable[code].template, details)
}

/**
 * What an error adds to a sentence that has named what failed already: its reason where it has one, else all that it says. A whole message inside
 * of another would name the same thing twice.
 */
export function reasonOf(error: unknown): string {
  const reason = isMillraceError(error) ? error.details['reason'] : undefined
  if (typeof reason === 'string' && reason !== '') return reason
  return error instanceof Error ? error.message : String(error)
}

/** What a client has sent may be in a message, which goes into logs and answers: not all of it where it is long. */
const detailLengthMax = 1000

/**
 * A placeholder that stands right behind a word or another placeholder adds to it, and may be empty: `{key}{suggestion}`. One that stands by itself is
 * shown empty as `""`, so that no sentence has a hole.
 */
function fillTemplate(template: string, details: ErrorDetails): string {
  return template.replace(/(?<=([\w}])?)\{(\w+)\}/g, (_all, before: string | undefined, name: string) => {
    const text = String(details[name] ?? '')
    if (text === '' && before === undefined) return '""'
    return text.length <= detailLengthMax ? text : `${text.slice(0, detailLengthMax)}…`
  })
}
