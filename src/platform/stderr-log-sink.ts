import { writeSync } from 'node:fs'
import { type LogSink } from '../kernel/ports/telemetry.ts'

/** Writes lines to standard error at once, so that the last words of a process that ends are not lost. */
export class StderrLogSink implements LogSink {
  write(line: string): void {
    try {
      writeSync(2, line)
    } catch {
      // A closed or full standard error must not take the broker with it; there is nowhere left to say so.
    }
  }
}
