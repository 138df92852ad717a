import { type GaugeSample, type Metrics } from '../../kernel/ports/telemetry.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** Metrics, and what they tell. */
export interface MetricsSubject {
  readonly metrics: Metrics
  /** What is told of a name now: of a histogram how many were observed. */
  readonly read: (name: string) => Promise<readonly GaugeSample[]>
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface MetricsConformance {
  readonly test: DeclareTest
  readonly create: () => MetricsSubject
}

/** What every Metrics promises that tells what it was given. */
export function metricsConformance({ test, create }: MetricsConformance): void {
  const claim = (title: string, body: (subject: MetricsSubject) => Promise<void>): void => {
    test(title, () => body(create()))
  }
  const valueOf = (samples: readonly GaugeSample[], labels: GaugeSample['labels'] = {}): number | undefined => samples.find(each => sameLabels(each.labels, labels))?.value

  claim('a counter tells the sum of what was added, also of fractions', async ({ metrics, read }) => {
    const counter = metrics.counter('millrace_kit_things_total', 'Things.')
    for (const amount of [1, 2.5, 0]) counter.add(amount)
    checkEqual(valueOf(await read('millrace_kit_things_total')), 3.5, 'the counter')
  })
  claim('asking twice for one name and labels gives the same instrument, in whatever order the labels stand; other labels another', async ({ metrics, read }) => {
    const name = 'millrace_kit_things_total'
    metrics.counter(name, 'Things.', { a: '1', b: '2' }).add(1)
    metrics.counter(name, 'Things.', { b: '2', a: '1' }).add(2)
    metrics.counter(name, 'Things.', { a: '1' }).add(4)
    checkEqual([(await read(name)).length, valueOf(await read(name), { a: '1', b: '2' }), valueOf(await read(name), { a: '1' })], [2, 3, 4], 'the counters')
  })
  claim('a histogram tells how many were observed, those above its last bucket too', async ({ metrics, read }) => {
    const histogram = metrics.histogram('millrace_kit_seconds', 'Seconds.', [0.1, 1])
    for (const value of [0.05, 0.5, 50]) histogram.observe(value)
    metrics.histogram('millrace_kit_seconds', 'Seconds.', [0.1, 1]).observe(1)
    checkEqual(valueOf(await read('millrace_kit_seconds')), 4, 'observations')
  })
  claim('a gauge and what somebody else counts are read when somebody looks, one number or a sample for each labels', async ({ metrics, read }) => {
    let value = 1
    metrics.gauge('millrace_kit_level', 'Level.', () => value)
    metrics.counted('millrace_kit_counted_total', 'Counted.', () => [{ labels: { topic: 'a' }, value }, { labels: { topic: 'b' }, value: 10 }])
    checkEqual(valueOf(await read('millrace_kit_level')), 1, 'the gauge')
    value = 2
    checkEqual(valueOf(await read('millrace_kit_level')), 2, 'the gauge later')
    checkEqual([valueOf(await read('millrace_kit_counted_total'), { topic: 'a' }), valueOf(await read('millrace_kit_counted_total'), { topic: 'b' })], [2, 10], 'what is counted elsewhere')
  })
  claim('what is forgotten is told no more, counts for nobody, and begins at zero when it is asked for again', async ({ metrics, read }) => {
    const name = 'millrace_kit_things_total'
    const old = metrics.counter(name, 'Things.', { topic: 'a' })
    old.add(5)
    metrics.counter(name, 'Things.', { topic: 'b' }).add(1)
    metrics.forget(name, { topic: 'a' })
    metrics.forget(name, { topic: 'never' })
    metrics.forget('millrace_kit_nothing_total', {})
    old.add(5)
    check(valueOf(await read(name), { topic: 'a' }) === undefined, 'what was forgotten is not told')
    checkEqual(valueOf(await read(name), { topic: 'b' }), 1, 'the other one')
    metrics.counter(name, 'Things.', { topic: 'a' }).add(2)
    checkEqual(valueOf(await read(name), { topic: 'a' }), 2, 'the one that was asked for again')
  })
}

function sameLabels(left: GaugeSample['labels'], right: GaugeSample['labels']): boolean {
  const keys = Object.keys(left)
  return keys.length === Object.keys(right).length && keys.every(key => left[key] === right[key])
}
