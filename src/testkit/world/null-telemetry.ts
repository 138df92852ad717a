import { type Counter, type Histogram, type Logger, type Metrics } from '../../kernel/ports/telemetry.ts'

const counter: Counter = { add: () => {} }
const histogram: Histogram = { observe: () => {} }

/** Says nothing to nobody. */
export const nullLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => nullLogger,
}

/** Counts nothing. */
export const nullMetrics: Metrics = {
  counter: () => counter,
  histogram: () => histogram,
  forget: () => {},
  gauge: () => {},
  counted: () => {},
}
