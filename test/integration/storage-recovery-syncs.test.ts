import { expect, test } from 'vitest'
import { append, makeBatch, newTopicId, readRecords } from '../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { makeStore } from '../unit/plugins/storage-local/store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }

test('what a recovery kept after a kill is on the disk when the start ends', async () => {
  const files = new MemoryFileSystem()
  const dying = makeStore({ files, timers: new ManualTimers() })
  await dying.store.start()
  const log = dying.store.create({ topic: 'kept', topicId: newTopicId(), partition: 0 }, topicSettings({ durability: 'os', segmentBytes: 300 }))
  for (let index = 0; index < 20; index++) append(log, makeBatch(2, { producerId: 1, producerEpoch: 0, baseSequence: index * 2 }), index >> 2)
  expect(files.unsyncedChanges()).toBeGreaterThan(0)

  // Killed: the next process finds the page cache as it was, on the same disk.
  const heir = makeStore({ files, timers: new ManualTimers() })
  await heir.store.start()
  const kept = await readRecords(subject, heir.store.find(log.id.topicId, 0)!)
  expect(kept.length).toBe(40)

  const found = makeStore({ files: files.afterCrash({ keepUnsynced: 'none' }), timers: new ManualTimers() })
  await found.store.start()
  const after = found.store.find(log.id.topicId, 0)!
  expect(await readRecords(subject, after)).toEqual(kept)
  expect(after.lastEpoch).toBe(4)
  expect(append(after, makeBatch(2, { producerId: 1, producerEpoch: 0, baseSequence: 38 }), 4).duplicate).toBe(true)
})
