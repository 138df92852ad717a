import { describe, expect, it } from 'vitest'
import { BrokerSettingsMap } from '../../../../src/kernel/config/broker-settings-map.ts'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { BatchBuilder } from '../../../../src/kernel/record/batch-builder.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { MemoryLogStore } from '../../../../src/plugins/storage-memory/memory-log-store.ts'
import { keyedRecords } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { append, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { withoutMemory } from '../without-memory.ts'

/** Codecs that cannot be had while `missing` says so. */
class GoneCodecs extends NodeCompression {
  missing = false

  override decompress(...given: Parameters<NodeCompression['decompress']>): Uint8Array {
    if (this.missing) throw new MillraceError('MR_RECORD_CODEC_UNAVAILABLE', { codec: 'gzip', package: 'none' })
    return super.decompress(...given)
  }
}

interface Life {
  readonly store: MemoryLogStore
  readonly timers: ManualTimers
  readonly codecs: GoneCodecs
}

async function life(settings: Readonly<Record<string, string>>): Promise<Life> {
  const timers = new ManualTimers()
  const codecs = new GoneCodecs()
  const soon = { after: (delayMs: number, callback: () => void) => timers.after(delayMs, callback), soon: queueMicrotask }
  const store = new MemoryLogStore(timers.clock, soon, new SeededRandom(1), codecs, new BrokerSettingsMap({ commandLine: new Map(Object.entries({ 'log.cleaner.backoff.ms': '1000', ...settings })) }))
  await store.start()
  return { store, timers, codecs }
}

/** Records of five keys in batches of one, compressed where `codec` says so, all below the watermark. */
function table(store: MemoryLogStore, topic: string, codec: 0 | 1): PartitionLog {
  const log = store.create({ topic, topicId: newTopicId(), partition: 0 }, topicSettings({ compact: true, delete: false, segmentBytes: 500, minCleanableDirtyRatio: 0 }))
  const builder = new BatchBuilder(new NodeCompression())
  for (let index = 0; index < 40; index++) {
    builder.reset()
    builder.append(1000, Buffer.from(`key ${index % 5}`), Buffer.from(`${index}`))
    append(log, builder.finish({ codec }))
  }
  log.raiseHighWatermark(log.endOffset)
  return log
}

it('a round that finds no memory is a failed one: it is shown, and made again after a while', async () => {
  const made = await life({ 'log.cleaner.enable': 'false' })
  const log = table(made.store, 'table', 0)
  expect(await withoutMemory(() => made.store.compact())).toMatchObject({ logsCompacted: 0, logsFailed: 1 })
  expect(log.compaction!.failure!.reason).toContain('no memory for the compaction of table-0')
  await pass(made, 31)
  expect(await made.store.compact()).toMatchObject({ logsCompacted: 1, logsFailed: 0 })
  expect([log.compaction!.failure, log.compaction!.dirtyBytes]).toEqual([undefined, 0])
})

async function pass({ timers }: Life, seconds: number, each: (second: number) => void = () => {}): Promise<void> {
  for (let second = 1; second <= seconds; second++) {
    timers.advance(1000)
    await settled()
    each(second)
  }
}

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const offsetsOf = async (log: PartitionLog): Promise<number[]> => (await keyedRecords(subject, log)).map(({ offset }) => offset)

describe('a log in memory whose compaction fails', () => {
  it('is tried again after 30 s, twice as long each time, an hour at most; is shown meanwhile, keeps no other from it, and is never given up', async () => {
    const world = await life({})
    world.codecs.missing = true
    const [failing, other] = [table(world.store, 'failing', 1), table(world.store, 'other', 0)]
    const tries: number[] = []
    let next = 0
    await pass(world, 20_000, second => {
      const { failure } = failing.compaction!
      if (failure !== undefined && failure.nextTryMs !== next) {
        next = failure.nextTryMs
        tries.push(second)
      }
    })
    const waits = tries.slice(1).map((at, index) => at - tries[index]!)
    expect(waits.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600].map(seconds => expect.toSatisfy((wait: number) => wait >= seconds && wait <= seconds + 2)))
    expect(failing.compaction!.failure!.reason).toContain('gzip')
    expect([other.compaction!.failure, other.compaction!.dirtyBytes]).toEqual([undefined, 0])
    expect((await offsetsOf(other)).length).toBeLessThan(20)
    expect(failing.compaction!.dirtyBytes).toBeGreaterThan(0)
    world.codecs.missing = false
    const before = failing.sizeBytes
    await pass(world, 3601)
    expect([failing.compaction!.failure, failing.compaction!.dirtyBytes]).toEqual([undefined, 0])
    expect(failing.sizeBytes).toBeLessThan(before / 2)
  })
})

describe('log.cleaner.enable in memory', () => {
  it.each([true, false])('%s: says whether logs are compacted by themselves; when somebody asks they are in either case', async enabled => {
    const world = await life({ 'log.cleaner.enable': String(enabled) })
    const log = table(world.store, 'table', 0)
    await pass(world, 3600)
    expect(log.compaction!.dirtyBytes > 0).toBe(!enabled)
    expect((await world.store.compact()).logsCompacted).toBe(enabled ? 0 : 1)
    expect(log.compaction!.dirtyBytes).toBe(0)
    expect((await offsetsOf(log)).slice(-5)).toEqual([35, 36, 37, 38, 39])
  })
})
