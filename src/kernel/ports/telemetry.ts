import { token } from '../plugin/token.ts'

/** What a line of the log carries beside its message. Errors may be values; they are written with their causes. */
export type LogFields = Readonly<Record<string, unknown>>

/** Structured log lines of one component. Never pass secrets or record contents. No call throws, whatever the fields: a line that cannot be written is lost. */
export interface Logger {
  /** For who looks for a fault in this component; off by default. */
  debug(message: string, fields?: LogFields): void
  /** What an operator wants to read afterwards: starts, stops, changes. */
  info(message: string, fields?: LogFields): void
  /** What works and should be looked at, with its remedy. */
  warn(message: string, fields?: LogFields): void
  /** What does not work any more, with its cause in `fields.error`. */
  error(message: string, fields?: LogFields): void
  /** A logger whose lines carry `fields` too. */
  child(fields: LogFields): Logger
}
export const Logger = token<Logger>('Logger', { debug: true, info: true, warn: true, error: true, child: true })

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>

/** Counts up. Costs one addition: made once, kept, and used on hot paths. Throws nothing. */
export interface Counter {
  /** A finite number of 0 or more, which is the caller's care. */
  add(amount: number): void
}

/** Counts observations in buckets; `observe` costs a few nanoseconds and throws nothing. */
export interface Histogram {
  /** In the unit that the name ends in. */
  observe(value: number): void
}

/** One value of a metric, now. */
export interface GaugeSample {
  /** No two samples of one gauge have the same. */
  readonly labels: Labels
  /** In the unit that the name ends in. */
  readonly value: number
}

/**
 * Metrics. Names are `millrace_area_what_unit`, label values come from small sets (topics are allowed, keys and clients are not).
 * Asking twice for one name and labels gives the same instrument. No call throws.
 */
export interface Metrics {
  /** Begins at zero. A name has one kind and one help, whatever its labels. */
  counter(name: string, help: string, labels?: Labels): Counter
  /** `buckets` are upper bounds, rising; what is above the last is counted too. */
  histogram(name: string, help: string, buckets: readonly number[], labels?: Labels): Histogram
  /**
   * Ends the counter or histogram of this name and labels: what they stand for is gone, and is told no more. Whoever still has the
   * instrument counts for nobody; asking again gives one that begins at zero. None of that name is fine.
   */
  forget(name: string, labels: Labels): void
  /** Read when somebody looks, now or never; `read` answers at once, from memory, and must not throw. */
  gauge(name: string, help: string, read: () => number | readonly GaugeSample[]): void
  /** A counter that somebody keeps already, read when somebody looks. What it gives must not fall; its name ends in `_total`. */
  counted(name: string, help: string, read: () => number | readonly GaugeSample[]): void
}
export const Metrics = token<Metrics>('Metrics', { counter: true, histogram: true, forget: true, gauge: true, counted: true })

/** Where finished log lines go: standard error of a process, memory in a test. */
export interface LogSink {
  /** One line with its line end. In order; must not throw. */
  write(line: string): void
}
export const LogSink = token<LogSink>('LogSink', { write: true })
