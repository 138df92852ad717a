import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol, type StoreScript } from '../store-protocol.ts'
import { type StageOptions, type StoreStage } from '../store-stage.ts'
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

interface ReclaimScript extends Omit<StoreScript<PartitionLog[]>, 'prepare'> {
  readonly settings?: Partial<TopicSettings>
  /** Default 2. */
  readonly topics?: number
}

/**
 * Files of the redo log are full, and used again while something else is done to the logs that have batches in them; once where the disk answers at once, and once where
 * syncs are under way meanwhile, and end in any order.
 */
const reclaiming = (script: ReclaimScript): CrashProtocol[] => [
  reclaimingOn(anyNames, script),
  reclaimingOn(seed => ({ ...anyNames(seed), isSlow: true }), { ...script, name: `${script.name}, slow syncs` }),
]

function reclaimingOn(vary: (seed: number) => StageOptions, { settings = {}, topics = 2, ...script }: ReclaimScript): CrashProtocol {
  return storeProtocol({
    ...script, vary,
    prepare: async stage => {
      const logs = await begun(topics, settings)(stage)
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
  ...reclaiming({
    name: 'redo files used again, and rolls', settings: small,
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await fill(stage, logs, 3)
        await putSome(stage, logs, 3)
      }
      await stage.turns(60)
    },
  }),
  ...reclaiming({
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
  ...reclaiming({
    // What the redo log had of the log that is cut is on the disk where it belongs, by then, and may be in no file any more that counts.
    name: 'redo files used again, and truncation of idle logs', settings: small, topics: 3,
    run: async (stage, logs) => {
      const { prng } = stage
      for (const [index, idle] of logs.entries()) {
        const others = logs.filter(log => log !== idle)
        await putSome(stage, [idle], 5)
        await stage.turns(40)
        await fill(stage, others, prng.between(5, 9))
        // Groups that are written for these have no barriers.
        if (prng.chance(0.4)) stage.truncate(others[0]!, others[0]!.endOffset - 1)
        if (prng.chance(0.2)) {
          stage.remove(others[1]!)
          logs[logs.indexOf(others[1]!)] = stage.create(`again${index}`, small)
        }
        if (prng.chance(0.3)) stage.deletePrefix(idle)
        const { startOffset, endOffset } = idle
        stage.truncate(idle, prng.pick([0, startOffset, prng.between(0, startOffset), prng.between(startOffset, endOffset)]))
        await putSome(stage, [idle], prng.pick([0, 2, 7]))
        await stage.turns(prng.pick([0, 40]))
      }
    },
  }),
  ...reclaiming({
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
  ...reclaiming({
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

