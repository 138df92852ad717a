import { expect, test } from 'vitest'
import { parsePartitionOffsets } from '../../../../src/kernel/log/checkpoint-text.ts'
import { setAsideTail } from '../../../../src/plugins/storage-local/io/set-aside.ts'
import { enumerateCrashes } from '../../../../src/testkit/index.ts'
import { fill, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, codeOf, makeStore } from './store-subjects.ts'

const id = { topic: 'fresh', topicId: newTopicId(), partition: 0 }

function offsetsIn(files: MemoryFileSystem, name: string, log = 'fresh-0'): number {
  const path = `/data/${name}`
  return files.stat(path) === undefined ? 0 : parsePartitionOffsets(new TextDecoder().decode(bytesOf(files, path))).get(log) ?? 0
}

test('a checkpoint that is written in the background never names a log whose topic the disk does not know: a log that is lost with its directory does not begin anew', async () => {
  const files = new MemoryFileSystem({ names: 'each' })
  const timers = new ManualTimers()
  const { store } = makeStore({ files, timers })
  await store.start()
  let [named, unnamed] = [0, 0]
  await enumerateCrashes({
    files, random: 2, subsetsOf: 4,
    run: async () => {
      const log = store.create(id, topicSettings())
      fill(log, 3)
      await store.flush()
      log.raiseHighWatermark(3)
      for (const ms of [6000, 61_000]) {
        timers.advance(ms)
        await settled()
      }
    },
    check: async left => {
      if (Math.max(offsetsIn(left, 'recovery-point-offset-checkpoint'), offsetsIn(left, 'replication-offset-checkpoint')) === 0) return void unnamed++
      named++
      left.remove('/data/fresh-0')
      const again = makeStore({ files: left, timers: new ManualTimers() })
      await again.store.start()
      expect(codeOf(() => again.store.create(id, topicSettings()))).toBe('MR_LOG_MISSING')
    },
  })
  expect(named).toBeGreaterThan(5)
  expect(unnamed).toBeGreaterThan(5)
})

test('a topic that is made while the ids of others are on their way to the disk holds no checkpoint up, and is in it', async () => {
  const files = new MemoryFileSystem()
  const timers = new ManualTimers()
  const { store } = makeStore({ files, timers })
  await store.start()
  fill(store.create(id, topicSettings()), 3)
  await store.flush()
  const goOn = files.stall()
  timers.advance(61_000)
  fill(store.create({ ...id, topic: 'fresher', topicId: newTopicId() }, topicSettings()), 2)
  goOn()
  await store.flush()
  for (let turn = 0; turn < 3; turn++) await settled()
  timers.advance(61_000)
  await settled()
  expect([offsetsIn(files, 'recovery-point-offset-checkpoint'), offsetsIn(files, 'recovery-point-offset-checkpoint', 'fresher-0')]).toEqual([3, 2])
})

test('a topic id that cannot be made durable takes the directory out of service, before offsets of its log are written', async () => {
  const files = new MemoryFileSystem()
  const timers = new ManualTimers()
  const { store } = makeStore({ files, timers })
  await store.start()
  const log = store.create(id, topicSettings())
  fill(log, 3)
  await store.flush()
  log.raiseHighWatermark(3)
  files.faults.add({ operation: 'sync directory', path: '/data', error: 'EIO' })
  timers.advance(6000)
  await settled()
  expect(store.directories()[0]!.offline).toMatch(/EIO/)
  expect(offsetsIn(files, 'replication-offset-checkpoint')).toBe(0)
})

test('bytes that were copied aside by a process that ended before their name was on the disk are there after a power cut, before what they were cut from is', () => {
  const files = new MemoryFileSystem()
  files.makeDirectory('/data/t-0')
  const segment = files.open('/data/t-0/00000000000000000000.log', 'ensure')
  segment.write([new Uint8Array(300).fill(7)], 0)
  segment.syncNow()
  for (const path of ['/', '/data', '/data/t-0']) files.syncDirectory(path)
  files.faults.add({ operation: 'sync directory', error: 'EIO', times: 1 })
  expect(codeOf(() => setAsideTail(files, '/data/t-0', '00000000000000000000.log', segment, 100, 300))).toBe('MR_FILE_FAILED')
  // The next process finds what the system has.
  const next = files.afterCrash({ keepUnsynced: 'all' })
  const path = setAsideTail(next, '/data/t-0', '00000000000000000000.log', next.open('/data/t-0/00000000000000000000.log', 'read'), 100, 300)
  expect(bytesOf(next.afterCrash({ keepUnsynced: 'none' }), path)).toEqual(new Uint8Array(200).fill(7))
})
