import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol, type StoreScript } from '../store-protocol.ts'
import { type StoreStage } from '../store-stage.ts'
import { anyNames, begun, putSome, small } from './acts.ts'

/** A few batches of which fill one of the four files. */
const large = 60_000

/** So many of the files are full that the next groups have what is in them settled. */
async function fill(stage: StoreStage, logs: readonly PartitionLog[], count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    stage.put(logs[index % logs.length]!, { bytes: large })
    await stage.turns(25)
  }
}

/** Files of the redo log are full, and used again while something else is done to the logs that have batches in them. */
function reclaiming({ settings = {}, ...script }: Omit<StoreScript<PartitionLog[]>, 'prepare'> & { readonly settings?: Partial<TopicSettings> }): CrashProtocol {
  return storeProtocol({
    ...script, vary: anyNames,
    prepare: async stage => {
      const logs = await begun(2, settings)(stage)
      await fill(stage, logs, stage.prng.between(5, 8))
      if (stage.prng.chance(0.3)) {
        await stage.restart(stage.prng.pick(['stop', 'power cut'] as const))
        for (const [index, log] of logs.entries()) logs[index] = stage.reopen(log, settings)
        await fill(stage, logs, stage.prng.between(5, 8))
      }
      return logs
    },
  })
}

const table: Partial<TopicSettings> = { compact: true, delete: false, segmentBytes: 70_000, minCleanableDirtyRatio: 0, fileDeleteDelayMs: 500 }

export const reclaims: readonly CrashProtocol[] = [
  reclaiming({
    name: 'redo files used again, and rolls', settings: small,
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await fill(stage, logs, 3)
        await putSome(stage, logs, 3)
      }
      await stage.turns(60)
    },
  }),
  reclaiming({
    name: 'redo files used again, and truncation',
    run: async (stage, logs) => {
      for (let round = 0; round < 4; round++) {
        await fill(stage, logs, 2)
        const log = stage.prng.pick(logs)
        stage.truncate(log, Math.max(log.startOffset, log.endOffset - stage.prng.below(4)))
        await fill(stage, logs, 2)
        await stage.turns(stage.prng.pick([0, 40]))
      }
    },
  }),
  reclaiming({
    name: 'redo files used again, and deletion', settings: { ...small, retentionBytes: 150_000, retentionMs: -1 },
    run: async (stage, logs) => {
      const { prng } = stage
      for (let round = 0; round < 4; round++) {
        await fill(stage, logs, 3)
        const draw = prng.below(3)
        if (draw === 0) stage.deletePrefix(prng.pick(logs))
        else if (draw === 1) stage.sweep()
        else {
          stage.remove(logs.pop()!)
          logs.push(stage.create(`topic${round + 2}`, small))
        }
        await stage.turns(prng.pick([0, 40]))
      }
    },
  }),
  reclaiming({
    name: 'redo files used again, and compaction', settings: table,
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        const compacted = stage.compact()
        for (let count = 0; count < 3; count++) {
          stage.put(logs[count % 2]!, { bytes: large, keys: 3 })
          await stage.turns(15)
        }
        await compacted
        stage.advance(600)
        await stage.turns(20)
      }
    },
  }),
]

