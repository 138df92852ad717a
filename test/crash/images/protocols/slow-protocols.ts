import { type TopicSettings } from '../../../../src/kernel/model/topic-settings.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol } from '../store-protocol.ts'
import { type StageOptions } from '../store-stage.ts'
import { actByChance, anyDisk, begun, putSome, small } from './acts.ts'

const slowly = (seed: number): StageOptions => ({ ...anyDisk(seed), isSlow: true })
const kept = { ...small, retentionBytes: 900, retentionMs: -1 }
const table: Partial<TopicSettings> = { compact: true, delete: false, segmentBytes: 500, indexIntervalBytes: 100, minCleanableDirtyRatio: 0, fileDeleteDelayMs: 500 }

/** Syncs are under way, several at once, while the next steps are done; they end in any order. */
export const slow: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'append and roll, slow syncs', vary: slowly, prepare: begun(3, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await putSome(stage, logs, 7)
        // The recovery points move while files beside closed segments are not on the disk yet.
        stage.advance(stage.prng.pick([0, 61_000]))
      }
      await stage.turns(20)
    },
  }),
  storeProtocol({
    name: 'truncate, slow syncs', vary: slowly, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 5; round++) {
        await putSome(stage, logs, 5)
        const log = stage.prng.pick(logs)
        stage.truncate(log, Math.max(log.startOffset, log.endOffset - stage.prng.below(14)))
      }
      await stage.flush()
    },
  }),
  storeProtocol({
    name: 'topics come and go, slow syncs', vary: slowly, prepare: begun(3, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await putSome(stage, logs, 5)
        stage.remove(logs.shift()!)
        logs.push(stage.create(`topic${round}`, small))
        stage.advance(stage.prng.pick([0, 61_000]))
      }
      await putSome(stage, logs, 4)
    },
  }),
  storeProtocol({
    name: 'compaction, slow syncs', vary: slowly, prepare: begun(2, table),
    run: async (stage, logs) => {
      const put = async (): Promise<void> => {
        for (let count = 0; count < 8; count++) {
          stage.put(stage.prng.pick(logs), { records: stage.prng.between(1, 3), keys: 5 })
          await stage.turns()
        }
      }
      await put()
      await stage.flush()
      for (let round = 0; round < 2; round++) {
        const compacted = stage.compact()
        await put()
        await compacted
        await stage.flush()
        stage.advance(stage.prng.pick([600, 61_000]))
      }
    },
  }),
  storeProtocol({
    name: 'all by chance, slow syncs', vary: slowly, prepare: begun(2, kept),
    run: async (stage, logs) => {
      for (let step = 0; step < 16; step++) await actByChance(stage, logs)
    },
  }),
]

const twice = (seed: number): StageOptions => ({ ...anyDisk(seed), directories: 2, isSlow: seed % 2 === 1 })

/** Each has checkpoints, a redo log and a marker of its own. */
export const several: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'two data directories', vary: twice, prepare: begun(4, kept),
    run: async (stage, logs) => {
      for (let step = 0; step < 8; step++) await actByChance(stage, logs)
      stage.remove(logs.shift()!)
      logs.push(stage.create('another', kept))
      for (let step = 0; step < 4; step++) await actByChance(stage, logs)
    },
  }),
  storeProtocol({
    name: 'two data directories, stop and start', vary: twice, prepare: begun(4, small),
    run: async (stage, logs) => {
      await putSome(stage, logs, 6)
      await stage.restart('stop')
      const found = logs.map(log => stage.reopen(log, small))
      await putSome(stage, found, 6)
      stage.advance(61_000)
      await stage.turns(20)
    },
  }),
  storeProtocol({
    name: 'two data directories, one fails', vary: seed => ({ ...anyDisk(seed), directories: 2, isTroubled: true }), prepare: begun(4, small),
    run: async (stage, logs) => {
      await putSome(stage, logs, 4)
      stage.fail({ operation: 'any', path: /^\/data2/, error: 'EIO', skip: stage.prng.below(30) })
      await putSome(stage, logs, 12)
      await stage.flush()
      const made = stage.tryCreate('made', small)
      await putSome(stage, made === undefined ? logs : [...logs, made], 6)
      stage.advance(61_000)
    },
  }),
]
