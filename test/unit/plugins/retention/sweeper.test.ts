import { describe, expect, it } from 'vitest'
import { BrokerSettingsMap } from '../../../../src/kernel/config/broker-settings-map.ts'
import { type LogStore, type SweepReport } from '../../../../src/kernel/ports/log-store.ts'
import { retentionConfig } from '../../../../src/plugins/retention/config.ts'
import { Sweeper } from '../../../../src/plugins/retention/sweeper.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { RecordingLogger, RecordingMetrics } from '../../../../src/testkit/world/recording-telemetry.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

interface Options {
  readonly intervalMs?: number
  readonly schedule?: string
  readonly jitterMs?: number
  /** What a call tells; of several, each call the next one, and the last one again and again. */
  readonly report?: SweepReport | SweepReport[]
}

function world({ intervalMs = 300_000, report = { segmentsDeleted: 0, bytesDeleted: 0, segmentsRolled: 0, left: 0 }, ...config }: Options = {}) {
  const timers = new ManualTimers()
  const { clock } = timers
  /** Wall times of the sweeps. */
  const sweeps: number[] = []
  const store = { sweep: () => { sweeps.push(clock.wallMs()); return Array.isArray(report) ? report.length > 1 ? report.shift() : report[0] : report } } as unknown as LogStore
  const [logger, metrics] = [new RecordingLogger(), new RecordingMetrics()]
  const settings = new BrokerSettingsMap({ commandLine: new Map([['log.retention.check.interval.ms', String(intervalMs)]]) })
  const sweeper = new Sweeper({ store, settings, clock, timers, random: new SeededRandom(5), logger, metrics }, retentionConfig.parse(config))
  return { timers, clock, sweeps, sweeper, logger, metrics }
}

const gaps = (times: readonly number[]): number[] => times.slice(1).map((time, index) => time - times[index]!)
const dayTimes = (times: readonly number[]): string[] => times.map(time => new Date(time).toISOString().slice(5, 19))

describe('the schedule of retention', () => {
  it('without one, a look each log.retention.check.interval.ms, late by at most a tenth of it and by chance', async () => {
    const { sweeper, timers, sweeps } = world({ intervalMs: 10_000 })
    await sweeper.start()
    timers.advance(hourMs)
    const between = gaps(sweeps)
    expect(between.length).toBeGreaterThan(300)
    expect(Math.min(...between)).toBeGreaterThanOrEqual(10_000)
    expect(Math.max(...between)).toBeLessThanOrEqual(11_001)
    expect(Math.max(...between) - Math.min(...between)).toBeGreaterThan(500)
  })

  it('no jitter is none', async () => {
    const { sweeper, timers, sweeps } = world({ intervalMs: 10_000, jitterMs: 0 })
    await sweeper.start()
    timers.advance(50_000)
    expect(gaps(sweeps)).toEqual([10_000, 10_000, 10_000, 10_000])
  })

  it('a cron expression is in UTC and takes the place of the interval', async () => {
    const { sweeper, timers, sweeps } = world({ intervalMs: 1000, schedule: '30 3,15 * * 1-5', jitterMs: 0 })
    await sweeper.start()
    timers.advance(8 * 24 * hourMs)
    expect(dayTimes(sweeps)).toEqual([
      '01-01T03:30:00', '01-01T15:30:00', '01-02T03:30:00', '01-02T15:30:00', '01-03T03:30:00', '01-03T15:30:00', '01-04T03:30:00', '01-04T15:30:00',
      '01-05T03:30:00', '01-05T15:30:00', '01-08T03:30:00', '01-08T15:30:00',
    ])
  })

  it('seconds and names are read, and jitter makes a time late, never early or twice', async () => {
    const { sweeper, timers, sweeps } = world({ schedule: '15 0 * * * *', jitterMs: 20_000 })
    await sweeper.start()
    timers.advance(50 * hourMs)
    expect(sweeps.length).toBe(50)
    for (const time of sweeps) {
      expect(time % hourMs).toBeGreaterThanOrEqual(15_000)
      expect(time % hourMs).toBeLessThanOrEqual(35_001)
    }
    const named = world({ schedule: '@hourly', jitterMs: 0 })
    await named.sweeper.start()
    named.timers.advance(2 * hourMs)
    expect(named.sweeps.length).toBe(2)
  })

  it('a time further away than a timer reaches comes all the same', async () => {
    const { sweeper, timers, sweeps } = world({ schedule: '0 0 1 7 *', jitterMs: 0 })
    await sweeper.start()
    timers.advance(183 * 24 * hourMs)
    expect(dayTimes(sweeps)).toEqual(['07-01T00:00:00'])
  })

  it('a wall clock that is set back or forward delays no look by more than ten minutes', async () => {
    const { sweeper, timers, clock, sweeps } = world({ schedule: '0 * * * *', jitterMs: 0 })
    await sweeper.start()
    clock.setWall(clock.wallMs() - 365 * 24 * hourMs)
    timers.advance(hourMs + 10 * minuteMs)
    expect(sweeps.length).toBe(1)
    clock.setWall(clock.wallMs() + 365 * 24 * hourMs)
    timers.advance(10 * minuteMs)
    expect(sweeps.length).toBe(2)
  })

  it('a stop is the end of it', async () => {
    const { sweeper, timers, sweeps } = world()
    await sweeper.start()
    await sweeper.stop()
    timers.advance(hourMs)
    expect([sweeps.length, timers.pending]).toEqual([0, 0])
  })

  it('what is no schedule, or names no day that comes, is refused before it runs', async () => {
    for (const schedule of ['x', '* * *', '* * * * * * *', 'hourly']) expect(() => world({ schedule }), schedule).toThrow(/five fields/)
    for (const schedule of ['a b c d e', '61 * * * *', '0 3 30 2 *', '@never']) {
      await expect(world({ schedule }).sweeper.start(), schedule).rejects.toMatchObject({ code: 'MR_HOST_SETTING', message: expect.stringContaining(schedule) })
    }
  })
})

describe('the trigger', () => {
  it('looks now, answers what went, counts it, and leaves the other times alone', async () => {
    const { sweeper, timers, sweeps, metrics, logger } = world({ jitterMs: 0, report: { segmentsDeleted: 2, bytesDeleted: 300, segmentsRolled: 1, left: 0 } })
    await sweeper.start()
    timers.advance(100_000)
    const { status, body } = await sweeper.handle()
    expect([status, JSON.parse(String(body))]).toEqual([200, { segmentsDeleted: 2, bytesDeleted: 300, segmentsRolled: 1 }])
    timers.advance(200_000)
    expect(gaps(sweeps)).toEqual([200_000])
    expect(metrics.count('millrace_retention_deleted_segments_total')).toBe(4)
    expect(metrics.count('millrace_retention_deleted_bytes_total')).toBe(600)
    expect(logger.lines.map(({ message }) => message)).toEqual(['retention has deleted segments', 'retention has deleted segments'])
  })
})

describe('a round in slices', () => {
  const slice = (left: number): SweepReport => ({ segmentsDeleted: 1, bytesDeleted: 100, segmentsRolled: 2, left })

  it('goes on, a slice in each turn of the event loop, until nothing is left, and tells of all of it', async () => {
    const { sweeper, sweeps, timers, metrics, logger } = world({ report: [slice(7), slice(3), slice(0)] })
    await sweeper.start()
    const answer = sweeper.handle()
    expect(sweeps.length).toBe(1)
    timers.runSoon()
    expect(JSON.parse(String((await answer).body))).toEqual({ segmentsDeleted: 3, bytesDeleted: 300, segmentsRolled: 6 })
    expect([sweeps.length, metrics.count('millrace_retention_deleted_segments_total')]).toEqual([3, 3])
    expect(logger.lines.map(({ fields }) => fields)).toEqual([{ segmentsDeleted: 3, bytesDeleted: 300, segmentsRolled: 6 }])
  })

  it('whoever asks meanwhile is told of a round that begins after the asking', async () => {
    const { sweeper, sweeps, timers } = world({ report: [slice(1), slice(0), slice(2), slice(0)] })
    await sweeper.start()
    const [first, ...others] = [sweeper.handle(), sweeper.handle(), sweeper.handle()]
    timers.runSoon()
    const deleted = async (answer: typeof first): Promise<unknown> => JSON.parse(String((await answer).body)).segmentsDeleted
    expect(await Promise.all([first, ...others].map(deleted))).toEqual([2, 2, 2])
    expect(sweeps.length).toBe(4)
  })

  it('is ended by a stop, which tells those who wait', async () => {
    const { sweeper, sweeps, timers } = world({ report: slice(1) })
    await sweeper.start()
    const answers = [sweeper.handle(), sweeper.handle()]
    await sweeper.stop()
    for (const answer of answers) expect((await answer).status).toBe(200)
    timers.advance(hourMs)
    expect([sweeps.length, timers.pending]).toEqual([1, 0])
  })

  it('the next one by the schedule is planned when it is over', async () => {
    const { sweeper, sweeps, timers } = world({ intervalMs: 10_000, jitterMs: 0, report: [slice(1), slice(0)] })
    await sweeper.start()
    timers.advance(10_000)
    expect(timers.pending).toBe(1)
    timers.advance(10_000)
    expect(gaps(sweeps)).toEqual([0, 10_000])
  })
})
