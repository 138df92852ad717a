import { type FileFault } from '../../../../src/testkit/index.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol } from '../store-protocol.ts'
import { type StageOptions, type StoreStage } from '../store-stage.ts'
import { actByChance, anyDisk, begun, putSome, small } from './acts.ts'

const kept = { ...small, retentionBytes: 900, retentionMs: -1 }

/** By the seed with a reserve, which is given up before anything small is refused, or without. */
function inTrouble(seed: number): StageOptions {
  const { config, ...rest } = anyDisk(seed)
  return { ...rest, isTroubled: true, config: { ...config, ...(seed % 2 === 1 ? { reserveBytes: 0 } : {}) } }
}

/** The disk is full for a while, for all that is written or for one kind of file; some bytes of a write may be there. */
function fullDisk(stage: StoreStage): FileFault {
  const { prng } = stage
  const path = prng.pick([undefined, /\.log$/, /checkpoint\.tmp$/, /\.(sum|index|timeindex|snapshot)/, /__millrace_redo/])
  return { operation: 'write', error: 'ENOSPC', keptBytes: prng.pick([0, 'by chance'] as const), skip: prng.below(6), times: prng.between(1, 6), ...(path === undefined ? {} : { path }) }
}

/** One call fails for good reasons: the data directory goes out of service, and nothing is promised any more that was not before. */
function brokenDisk(stage: StoreStage): FileFault {
  const { prng } = stage
  const skip = prng.below(30)
  switch (prng.below(4)) {
    case 0: return { operation: 'sync', error: 'EIO', blocks: prng.pick(['keep', 'drop', 'some'] as const), skip: prng.below(10), times: 1 }
    case 1: return { operation: 'write', error: 'EIO', keptBytes: 'by chance', skip, times: 1 }
    case 2: return { operation: prng.pick(['rename', 'sync directory', 'create', 'truncate'] as const), error: 'EIO', skip: prng.below(8), times: 1 }
    default: return { operation: 'any', error: 'EIO', skip: prng.below(60) }
  }
}

export const troubles: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'full disk', vary: inTrouble, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        const heal = stage.fail(fullDisk(stage))
        await putSome(stage, logs, 8)
        await stage.turns(20)
        heal()
        await putSome(stage, logs, 4)
        stage.advance(stage.prng.pick([0, 6000, 61_000]))
        await stage.turns(20)
      }
    },
  }),
  storeProtocol({
    name: 'full disk in deletions', vary: inTrouble, prepare: begun(3, kept),
    run: async (stage, logs) => {
      for (let round = 0; round < 4; round++) {
        await putSome(stage, logs, 6)
        await stage.turns(20)
        const heal = stage.fail(fullDisk(stage))
        if (stage.prng.chance(0.5)) stage.sweep()
        else stage.deletePrefix(stage.prng.pick(logs))
        if (round === 2) stage.remove(logs.pop()!)
        const made = stage.tryCreate(`made${round}`, kept)
        heal()
        if (made !== undefined) logs.push(made)
        stage.advance(stage.prng.pick([0, 6000, 61_000]))
      }
    },
  }),
  storeProtocol({
    name: 'full disk in truncation', vary: inTrouble, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 5; round++) {
        await putSome(stage, logs, 5)
        const log = stage.prng.pick(logs)
        const heal = stage.fail(fullDisk(stage))
        stage.truncate(log, Math.max(log.startOffset, log.endOffset - stage.prng.below(14)))
        if (stage.prng.chance(0.5)) await stage.turns()
        heal()
      }
    },
  }),
  storeProtocol({
    name: 'disk that fails', vary: inTrouble, prepare: begun(2, small),
    run: async (stage, logs) => {
      await putSome(stage, logs, 4)
      stage.fail(brokenDisk(stage))
      await putSome(stage, logs, 10)
      await stage.flush()
      stage.advance(61_000)
      await putSome(stage, logs, 4)
    },
  }),
  storeProtocol({
    name: 'disk that fails, all by chance', vary: inTrouble, prepare: begun(2, kept),
    run: async (stage, logs) => {
      for (let step = 0; step < 4; step++) await actByChance(stage, logs)
      stage.fail(brokenDisk(stage))
      for (let step = 0; step < 10; step++) await actByChance(stage, logs)
    },
  }),
  storeProtocol({
    // A new process on what a failure left, which is crashed in its turn.
    name: 'start after a failure', vary: inTrouble,
    prepare: async stage => {
      const logs = await begun(2, small)(stage)
      stage.fail(stage.prng.chance(0.5) ? fullDisk(stage) : brokenDisk(stage))
      await putSome(stage, logs, 12)
      await stage.turns(20)
      stage.cutPower(stage.prng.chance(0.5) ? 'all' : 'none')
      return logs
    },
    run: async (stage, logs) => {
      await stage.start()
      await putSome(stage, logs.map(log => stage.reopen(log, small)), 6)
    },
  }),
]
