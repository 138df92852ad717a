import { pino, type Logger as PinoBase } from 'pino'
import { type Clock } from '../../../kernel/ports/clock.ts'
import { type LogFields, type Logger, type LogSink } from '../../../kernel/ports/telemetry.ts'

/** JSON lines by pino, with the broker's own clock and sink. `time` is in milliseconds, `level` a word. */
export class PinoLogger implements Logger {
  readonly #pino: PinoBase

  constructor(base: PinoBase) {
    this.#pino = base
  }

  static create(level: string, clock: Clock, sink: LogSink): PinoLogger {
    return new PinoLogger(pino({
      level,
      base: null,
      timestamp: () => `,"time":${clock.wallMs()}`,
      formatters: { level: (label) => ({ level: label }) },
    }, sink))
  }

  debug(message: string, fields?: LogFields): void {
    this.#pino.debug(withError(fields), message)
  }

  info(message: string, fields?: LogFields): void {
    this.#pino.info(withError(fields), message)
  }

  warn(message: string, fields?: LogFields): void {
    this.#pino.warn(withError(fields), message)
  }

  error(message: string, fields?: LogFields): void {
    this.#pino.error(withError(fields), message)
  }

  child(fields: LogFields): Logger {
    return new PinoLogger(this.#pino.child(fields))
  }
}

/** Errors become `err` with their stack and causes, whatever field they came in. */
function withError(fields: LogFields | undefined): LogFields {
  if (fields === undefined) return {}
  if (fields['error'] instanceof Error) {
    const { error, ...rest } = fields
    return { ...rest, err: error }
  }
  return fields
}
