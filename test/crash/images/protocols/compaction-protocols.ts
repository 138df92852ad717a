import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { SeededRandom } from '../../../../src/testkit/index.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol } from '../store-protocol.ts'
import { type StageOptions, type StoreStage } from '../store-stage.ts'

/** Segments of a few batches, all that is closed to be compacted at once. */
const table: Partial<TopicSettings> = { compact: true, delete: false, segmentBytes: 500, indexIntervalBytes: 100, minCleanableDirtyRatio: 0, fileDeleteDelayMs: 500 }

function anyDisk(seed: number): StageOptions {
  return { disk: { names: seed % 2 === 0 ? 'ordered' : 'each', garbage: seed % 3 === 0 }, ...(seed % 4 === 3 ? { config: { redoBytesMax: 0 } } : {}) }
}

async function putKeyed(stage: StoreStage, logs: readonly PartitionLog[], count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    stage.put(stage.prng.pick(logs), { records: stage.prng.between(1, 3), keys: 5, newEpoch: stage.prng.chance(0.1), ...(stage.prng.chance(0.3) ? { producerId: stage.prng.between(1, 3) } : {}) })
    if (stage.prng.chance(0.4)) await stage.turns()
  }
}

/** Logs with some closed segments that are on the disk. */
function filled(settings: Partial<TopicSettings> = {}) {
  return async (stage: StoreStage): Promise<PartitionLog[]> => {
    await stage.start()
    const logs = [stage.create('one', { ...table, ...settings }), stage.create('two', { ...table, ...settings })]
    await putKeyed(stage, logs, 24)
    await settled(stage)
    return logs
  }
}

async function settled(stage: StoreStage): Promise<void> {
  await stage.turns(40)
  await stage.flush()
  await stage.turns(40)
}

/** Every way in which files change when a log is compacted. */
export const compacting: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'compaction', vary: anyDisk, prepare: filled(),
    run: async (stage, logs) => {
      await stage.compact()
      await putKeyed(stage, logs, 6)
      // The files that were replaced are freed.
      stage.advance(600)
      await settled(stage)
      await stage.compact()
    },
  }),
  storeProtocol({
    name: 'compaction beside appends', vary: anyDisk, prepare: filled(),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        const compacted = stage.compact()
        await putKeyed(stage, logs, 12)
        await compacted
        await stage.flush()
        if (stage.prng.chance(0.5)) stage.advance(61_000)
      }
    },
  }),
  storeProtocol({
    name: 'compaction and truncation', vary: anyDisk, prepare: filled(),
    run: async (stage, logs) => {
      for (let round = 0; round < 2; round++) {
        await stage.compact()
        await putKeyed(stage, logs, 4)
        for (const log of logs) stage.truncate(log, stage.prng.between(log.startOffset, log.endOffset))
        await putKeyed(stage, logs, 8)
        await settled(stage)
      }
      await stage.compact()
    },
  }),
  storeProtocol({
    name: 'compaction, retention and prefix delete', vary: anyDisk, prepare: filled({ delete: true, retentionBytes: 1500, retentionMs: -1 }),
    run: async (stage, logs) => {
      for (let round = 0; round < 2; round++) {
        const compacted = stage.compact()
        await putKeyed(stage, logs, 10)
        stage.deletePrefix(logs[0]!)
        await stage.turns()
        stage.sweep()
        await compacted
        await settled(stage)
      }
    },
  }),
  storeProtocol({
    // What goes on with a swap that a power cut has ended is crashed itself.
    name: 'start after a power cut in a compaction', vary: anyDisk,
    prepare: async stage => {
      const logs = await filled()(stage)
      void stage.compact()
      await stage.turns(stage.prng.below(60))
      stage.cutPower(new SeededRandom(stage.prng.uint32()))
      return logs
    },
    run: async (stage, logs) => {
      await stage.start()
      const found = logs.map(log => stage.reopen(log, table))
      await putKeyed(stage, found, 8)
      await settled(stage)
      await stage.compact()
    },
  }),
]
