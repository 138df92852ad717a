import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { type StageOptions, type StoreStage } from '../store-stage.ts'

export const noRedo = { redoBytesMax: 0 }
/** Rolls after a few batches, with an index entry for every other. */
export const small: Partial<TopicSettings> = { segmentBytes: 400, indexIntervalBytes: 100 }

/** By the seed: names in order or each on its own, blocks never reached hold zeros or garbage, with a redo log or a sync for each segment. */
export function anyDisk(seed: number): StageOptions {
  return { disk: { names: seed % 2 === 0 ? 'ordered' : 'each', garbage: seed % 3 === 0 }, ...(seed % 4 === 3 ? { config: noRedo } : {}) }
}

export const anyNames = (seed: number): StageOptions => ({ disk: anyDisk(seed).disk! })

export async function putSome(stage: StoreStage, logs: readonly PartitionLog[], count: number, bytes = 8): Promise<void> {
  for (let index = 0; index < count; index++) {
    const log = stage.prng.pick(logs)
    stage.put(log, { records: stage.prng.between(1, 3), bytes, newEpoch: stage.prng.chance(0.1), ...(stage.prng.chance(0.3) ? { producerId: stage.prng.between(1, 3) } : {}) })
    if (stage.prng.chance(0.4)) await stage.turns()
  }
}

/** Store, logs and a file of the redo log are there, and something is in each. */
export function begun(topics: number, settings: Partial<TopicSettings> = {}) {
  return async (stage: StoreStage): Promise<PartitionLog[]> => {
    await stage.start()
    const logs = Array.from({ length: topics }, (_, index) => stage.create(`topic${index}`, settings))
    for (const log of logs) stage.put(log)
    await stage.turns(50)
    await stage.flush()
    await putSome(stage, logs, 3 * topics)
    await stage.turns(50)
    return logs
  }
}

/** What one may do with logs, by chance. */
export async function actByChance(stage: StoreStage, logs: readonly PartitionLog[]): Promise<void> {
  const { prng } = stage
  const log = prng.pick(logs)
  const draw = prng.below(100)
  if (draw < 50) await putSome(stage, logs, prng.between(1, 5))
  else if (draw < 62) stage.truncate(log, Math.max(log.startOffset, log.endOffset - prng.below(12)))
  else if (draw < 72) stage.deletePrefix(log)
  else if (draw < 82) stage.sweep()
  else stage.advance(prng.pick([6000, 61_000, 61_000]))
  await stage.turns()
}
