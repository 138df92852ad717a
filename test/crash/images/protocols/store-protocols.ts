import { SeededRandom } from '../../../../src/testkit/index.ts'
import { type CrashProtocol } from '../crash-protocol.ts'
import { storeProtocol } from '../store-protocol.ts'
import { actByChance, anyDisk, anyNames, begun, noRedo, putSome, small } from './acts.ts'

export const appending: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'append', config: noRedo, vary: anyNames, prepare: begun(2),
    run: (stage, logs) => putSome(stage, logs, 15),
  }),
  storeProtocol({
    name: 'append and redo', vary: anyNames, prepare: begun(3),
    run: (stage, logs) => putSome(stage, logs, 24),
  }),
  storeProtocol({
    name: 'first file of the redo log', vary: anyNames,
    run: async stage => {
      const logs = [stage.create('one'), stage.create('two')]
      await putSome(stage, logs, 12)
      await stage.turns(40)
      await putSome(stage, logs, 4)
    },
  }),
  storeProtocol({
    // A batch above 128 KiB is synced in its segment, and a barrier says so.
    name: 'redo beside syncs in segments', vary: anyNames, prepare: begun(2),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await putSome(stage, logs, 4)
        stage.put(stage.prng.pick(logs), { bytes: 140_000 })
        await putSome(stage, logs, 4)
        await stage.turns(20)
      }
    },
  }),
  storeProtocol({
    // Four files of 256 KiB: at half of them what is in the full ones is settled, and they are used again.
    name: 'files of the redo log used again', vary: anyNames, prepare: begun(2),
    run: async (stage, logs) => {
      for (let count = 0; count < 24; count++) {
        stage.put(logs[count % 2]!, { bytes: 60_000 })
        await stage.turns(25)
      }
      await stage.turns(100)
      await putSome(stage, logs, 3)
    },
  }),
]

export const keeping: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'roll', vary: anyDisk, prepare: begun(2, small),
    run: async (stage, logs) => {
      await putSome(stage, logs, 20)
      await stage.turns(30)
    },
  }),
  storeProtocol({
    // One after another before anything of them is on the disk: any of their names may be there without those of before.
    name: 'rolls at once', vary: anyDisk, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (const log of logs) {
        for (let count = 0; count < 10; count++) stage.put(log, { records: 2, bytes: 30 })
        await stage.turns(30)
      }
    },
  }),
  storeProtocol({
    name: 'roll, durability os', vary: anyDisk,
    prepare: stage => begun(2, { ...small, durability: 'os' })(stage),
    run: async (stage, logs) => {
      await putSome(stage, logs, 15)
      await stage.flush()
      await putSome(stage, logs, 5)
    },
  }),
  storeProtocol({
    // Entries go to the files with the checkpoint of the recovery points.
    name: 'index', vary: anyDisk, prepare: begun(1, { segmentBytes: 3000, indexIntervalBytes: 60 }),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await putSome(stage, logs, 6, 40)
        await stage.turns(20)
        stage.advance(61_000)
        await stage.turns(20)
      }
    },
  }),
  storeProtocol({
    name: 'checkpoint', vary: anyDisk, prepare: begun(3, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 4; round++) {
        await putSome(stage, logs, 3)
        for (const log of logs) log.raiseHighWatermark(log.flushedOffset)
        stage.advance(stage.prng.pick([6000, 61_000]))
        await stage.turns()
      }
    },
  }),
  storeProtocol({
    name: 'snapshot', vary: anyDisk, prepare: begun(1, { ...small, retentionBytes: 900, retentionMs: -1 }),
    run: async (stage, logs) => {
      for (let round = 0; round < 10; round++) {
        stage.put(logs[0]!, { producerId: 10 + round % 4, records: 2 })
        await stage.turns()
        if (round % 4 === 3) stage.sweep()
        if (round % 5 === 4) stage.advance(61_000)
      }
      await stage.turns(20)
    },
  }),
]

export const cutting: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'truncate', vary: anyDisk, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 5; round++) {
        await putSome(stage, logs, 5)
        const log = stage.prng.pick(logs)
        stage.truncate(log, Math.max(log.startOffset, log.endOffset - stage.prng.below(14)))
        if (stage.prng.chance(0.5)) await stage.turns()
      }
    },
  }),
  storeProtocol({
    // As a follower that lies behind all that its leader has: it begins anew there, and what it had is gone.
    name: 'truncate below the start', vary: anyDisk, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 4; round++) {
        await putSome(stage, logs, 8)
        await stage.turns(20)
        const log = stage.prng.pick(logs)
        stage.deletePrefix(log)
        stage.truncate(log, stage.prng.between(Math.max(0, log.startOffset - 3), log.startOffset))
        if (stage.prng.chance(0.5)) await stage.turns()
      }
      await putSome(stage, logs, 3)
    },
  }),
  storeProtocol({
    name: 'prefix delete', vary: anyDisk, prepare: begun(2, small),
    run: async (stage, logs) => {
      for (let round = 0; round < 6; round++) {
        await putSome(stage, logs, 5)
        await stage.turns(20)
        stage.deletePrefix(stage.prng.pick(logs))
        stage.advance(stage.prng.pick([0, 6000, 61_000]))
      }
    },
  }),
  storeProtocol({
    name: 'retention', vary: anyDisk, prepare: begun(2, { ...small, retentionBytes: 900, retentionMs: -1 }),
    run: async (stage, logs) => {
      for (let round = 0; round < 5; round++) {
        await putSome(stage, logs, 8)
        await stage.turns(20)
        stage.sweep()
        stage.advance(stage.prng.pick([0, 6000, 61_000]))
      }
    },
  }),
  storeProtocol({
    // Of whole logs: everything in them is too old.
    name: 'retention by time', vary: anyDisk, prepare: begun(2, { ...small, retentionMs: 1000 }),
    run: async (stage, logs) => {
      for (let round = 0; round < 3; round++) {
        await putSome(stage, logs, 4)
        await stage.turns(20)
        stage.sweep()
        stage.advance(stage.prng.pick([6000, 61_000]))
      }
    },
  }),
]

export const slices: readonly CrashProtocol[] = [false, true].map(isSlow => storeProtocol({
  name: isSlow ? 'retention in slices, slow syncs' : 'retention in slices', vary: seed => ({ ...anyDisk(seed), isSlow }),
  prepare: begun(3, { ...small, retentionMs: 1000 }),
  run: async (stage, logs) => {
    for (let round = 0; round < 3; round++) {
      await putSome(stage, logs, 6)
      await stage.turns(20)
      for (let more = true; more;) {
        more = stage.sweepStep()
        if (stage.prng.chance(0.5)) await actByChance(stage, logs)
      }
      stage.advance(stage.prng.pick([6000, 61_000]))
    }
  },
}))

export const directories: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'first start', vary: anyDisk, prepare: () => {},
    run: async stage => {
      await stage.start()
      await putSome(stage, [stage.create('first', small)], 5)
    },
  }),
  storeProtocol({
    name: 'topic create', vary: anyDisk, prepare: begun(1),
    run: async (stage, logs) => {
      const made = [stage.create('made', small), stage.create('another', small), stage.create('made', small, 1)]
      await putSome(stage, [...logs, ...made], 8)
      stage.advance(61_000)
      await putSome(stage, made, 3)
    },
  }),
  storeProtocol({
    name: 'topic delete', vary: anyDisk, prepare: begun(3, small),
    run: async (stage, [first, second, third]) => {
      stage.remove(first!)
      await putSome(stage, [second!, third!], 4)
      // Made again under the name.
      const again = stage.create('topic0', small)
      await putSome(stage, [again, second!], 4)
      stage.advance(61_000)
      await stage.turns(20)
      stage.remove(second!)
      stage.remove(again)
      await putSome(stage, [third!], 3)
    },
  }),
  storeProtocol({
    name: 'topic set aside', vary: anyDisk, prepare: begun(2, small),
    run: async (stage, [first, second]) => {
      await putSome(stage, [first!, second!], 6)
      stage.setAside(first!)
      await putSome(stage, [second!], 3)
    },
  }),
  storeProtocol({
    name: 'orderly stop and start', vary: anyDisk, prepare: begun(3, small),
    run: async (stage, logs) => {
      await putSome(stage, logs, 6)
      await stage.stop()
      await stage.start()
      await putSome(stage, logs.map(log => stage.reopen(log, small)), 6)
    },
  }),
  storeProtocol({
    // What recovers is crashed itself, again between and inside its steps.
    name: 'start after a power cut', vary: anyDisk,
    prepare: async stage => {
      const logs = await begun(3, small)(stage)
      await putSome(stage, logs, 10)
      if (stage.prng.chance(0.5)) stage.remove(logs.pop()!)
      await putSome(stage, logs, 4)
      stage.cutPower(stage.prng.pick(['none', 'all', new SeededRandom(stage.prng.uint32())] as const))
      return logs
    },
    run: async (stage, logs) => {
      await stage.start()
      await putSome(stage, logs.map(log => stage.reopen(log, small)), 4)
    },
  }),
]

/** All of it by chance, in one life and the next. */
export const mixed: readonly CrashProtocol[] = [
  storeProtocol({
    name: 'all by chance', vary: anyDisk, prepare: begun(2, { ...small, retentionBytes: 900, retentionMs: -1 }),
    run: async (stage, logs) => {
      for (let step = 0; step < 16; step++) await actByChance(stage, logs)
    },
  }),
]
