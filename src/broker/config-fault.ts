import { isMillraceError, MillraceError } from '../kernel/errors/millrace-error.ts'

/** One mistake of a configuration. */
export interface ConfigFault {
  /** Where it stands: `broker.num.partitions`, `settings.observability.logLevel`, `plugins.0`; null: in no one place. */
  readonly key: string | null
  readonly error: MillraceError
}

/** Is told of each mistake. One that throws ends the check at the first. */
export type FaultSink = (error: MillraceError, key: string | null) => void

export const throwFault: FaultSink = (error) => { throw error }

/** Throws the first of them, which says how many there are beside it. */
export function throwFirst(faults: readonly ConfigFault[]): void {
  const [first, ...others] = faults
  if (first === undefined) return
  const { code, details, message } = first.error
  if (others.length === 0) throw first.error
  throw new MillraceError(code, details, first.error, `${message} (and ${others.length} more ${others.length === 1 ? 'mistake' : 'mistakes'})`)
}

/** Runs a check of one thing: what it throws is a fault of the thing. */
export function faultOf(check: () => void, key: string | null, onFault: FaultSink): void {
  try {
    check()
  } catch (error) {
    if (!isMillraceError(error)) throw error
    onFault(error, key)
  }
}
