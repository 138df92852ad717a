import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol, type StoreScript } from '../store-protocol.ts'
import { type StoreStage } from '../store-stage.ts'
import { anyDisk, begun, putSome, small } from './acts.ts'

type Script = Omit<StoreScript<PartitionLog[]>, 'prepare'> & { readonly settings: Partial<TopicSettings> }

/** What is done is done to logs that another process has left: their segments, indexes, snapshots and producers were found, and not made. */
function afterARestart({ name, settings, run, ...rest }: Script): CrashProtocol[] {
  return (['stop', 'power cut'] as const).map(how => storeProtocol({
    ...rest, name: `${name} after a ${how}`, vary: anyDisk,
    prepare: async stage => {
      const logs = await begun(2, settings)(stage)
      await putSome(stage, logs, 12)
      await stage.turns(30)
      if (how === 'power cut' && stage.prng.chance(0.5)) await restarted(stage, logs, settings, 'kill')
      return restarted(stage, logs, settings, how)
    },
    run,
  }))
}

async function restarted(stage: StoreStage, logs: readonly PartitionLog[], settings: Partial<TopicSettings>, how: 'stop' | 'kill' | 'power cut'): Promise<PartitionLog[]> {
  await stage.restart(how)
  return logs.map(log => stage.reopen(log, settings))
}

const kept = { ...small, retentionBytes: 900, retentionMs: -1 }

export const restarting: readonly CrashProtocol[] = [
  ...afterARestart({
    name: 'truncate', settings: small,
    run: async (stage, logs) => {
      for (const log of logs) {
        // At first nothing but what was found is there, closed segments with it.
        stage.truncate(log, stage.prng.between(log.startOffset, log.endOffset - 1))
        await putSome(stage, logs, 4)
        stage.truncate(log, Math.max(log.startOffset, log.endOffset - stage.prng.below(14)))
        await putSome(stage, logs, 3)
        await stage.turns(20)
      }
    },
  }),
  ...afterARestart({
    name: 'prefix delete', settings: small,
    run: async (stage, logs) => {
      for (let round = 0; round < 4; round++) {
        stage.deletePrefix(stage.prng.pick(logs))
        await putSome(stage, logs, 4)
        stage.advance(stage.prng.pick([0, 6000, 61_000]))
        await stage.turns(20)
      }
    },
  }),
  ...afterARestart({
    name: 'retention', settings: kept,
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        stage.sweep()
        await putSome(stage, logs, 6)
        stage.advance(stage.prng.pick([0, 6000, 61_000]))
        await stage.turns(20)
      }
    },
  }),
  ...afterARestart({
    name: 'roll', settings: small,
    run: async (stage, logs) => {
      await putSome(stage, logs, 14)
      await stage.turns(30)
    },
  }),
]
