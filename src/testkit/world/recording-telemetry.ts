import {
  type Counter, type GaugeSample, type Histogram, type Labels, type LogFields, type Logger, type Metrics,
} from '../../kernel/ports/telemetry.ts'

/** A line as it was logged. */
export interface RecordedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  /** Those of the logger and those of the line. */
  readonly fields: LogFields
}

/** A Logger that keeps its lines, newest last. Children write into the same list. */
export class RecordingLogger implements Logger {
  readonly lines: RecordedLine[]
  private readonly fields: LogFields

  constructor(lines: RecordedLine[] = [], fields: LogFields = {}) {
    this.lines = lines
    this.fields = fields
  }

  debug(message: string, fields?: LogFields): void {
    this.keep('debug', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.keep('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.keep('warn', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.keep('error', message, fields)
  }

  child(fields: LogFields): RecordingLogger {
    return new RecordingLogger(this.lines, { ...this.fields, ...fields })
  }

  /** Lines at least as grave as this. */
  atLeast(level: 'warn' | 'error'): readonly RecordedLine[] {
    return this.lines.filter(line => line.level === 'error' || line.level === level)
  }

  private keep(level: RecordedLine['level'], message: string, fields: LogFields = {}): void {
    this.lines.push({ level, message, fields: { ...this.fields, ...fields } })
  }
}

/** Metrics that keep what they were told, for a test to ask. */
export class RecordingMetrics implements Metrics {
  private readonly counters = new Map<string, { value: number }>()
  private readonly observations = new Map<string, number[]>()
  private readonly gauges = new Map<string, () => number | readonly GaugeSample[]>()

  counter(name: string, _help: string, labels?: Labels): Counter {
    const key = seriesOf(name, labels)
    let counter = this.counters.get(key)
    if (counter === undefined) this.counters.set(key, counter = { value: 0 })
    // Whoever still has one that was forgotten counts for nobody.
    const kept = counter
    return { add: amount => { kept.value += amount } }
  }

  histogram(name: string, _help: string, _buckets: readonly number[], labels?: Labels): Histogram {
    const key = seriesOf(name, labels)
    let values = this.observations.get(key)
    if (values === undefined) this.observations.set(key, values = [])
    const kept = values
    return { observe: value => void kept.push(value) }
  }

  forget(name: string, labels: Labels): void {
    this.counters.delete(seriesOf(name, labels))
    this.observations.delete(seriesOf(name, labels))
  }

  gauge(name: string, _help: string, read: () => number | readonly GaugeSample[]): void {
    this.gauges.set(name, read)
  }

  counted(name: string, _help: string, read: () => number | readonly GaugeSample[]): void {
    this.gauges.set(name, read)
  }

  /** What a counter stands at; 0 for one that nobody made. */
  count(name: string, labels?: Labels): number {
    return this.counters.get(seriesOf(name, labels))?.value ?? 0
  }

  /** What a histogram was given, in order. */
  observed(name: string, labels?: Labels): readonly number[] {
    return this.observations.get(seriesOf(name, labels)) ?? []
  }

  /** What a gauge reads now, or a counter that is read. */
  value(name: string): number | readonly GaugeSample[] | undefined {
    return this.gauges.get(name)?.()
  }

  /** Every series, sorted, with counters and numbers of observations: for traces. */
  snapshot(): readonly string[] {
    const counted = [...this.counters].map(([key, { value }]) => `${key} ${value}`)
    const observed = [...this.observations].map(([key, values]) => `${key} observed ${values.length}`)
    return [...counted, ...observed].sort()
  }
}

function seriesOf(name: string, labels: Labels = {}): string {
  const pairs = Object.entries(labels).sort(([left], [right]) => left < right ? -1 : 1)
  return pairs.length === 0 ? name : `${name}{${pairs.map(([key, value]) => `${key}=${value}`).join()}}`
}
