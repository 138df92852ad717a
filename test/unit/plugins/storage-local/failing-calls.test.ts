import { expect, test } from 'vitest'
import { append, fill, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { codeOf, makeStore, type TestStore } from './store-subjects.ts'

const directories = ['/data', '/data2']

async function startedOn(files: MemoryFileSystem): Promise<TestStore> {
  const made = makeStore({ files, timers: new ManualTimers(), directories })
  await made.store.start()
  return made
}

const holders = (files: MemoryFileSystem, name: string): string[] => directories.filter(path => files.stat(`${path}/${name}`) !== undefined)

test('a log that could not be made after its directory had its name is made once, wherever the next try puts it', async () => {
  const files = new MemoryFileSystem()
  const { store } = await startedOn(files)
  const id = { topic: 't', topicId: newTopicId(), partition: 0 }
  files.faults.add({ operation: 'open', path: /\/t-0\/0+\.log$/, error: 'EMFILE', times: 1 })
  expect(codeOf(() => store.create(id, topicSettings()))).toBe('MR_FILE_FAILED')
  expect(files.faults.failures).toBe(1)
  expect(holders(files.afterCrash({ keepUnsynced: 'none' }), 't-0')).toEqual([])
  // Another one takes the place in the first directory.
  store.create({ topic: 'u', topicId: newTopicId(), partition: 0 }, topicSettings())
  store.create(id, topicSettings())
  expect(holders(files, 't-0')).toEqual(['/data2'])
  const again = await startedOn(files.afterCrash({ keepUnsynced: 'none' }))
  expect(again.store.find(id.topicId, 0)).toBeDefined()
})

test('a log whose name may be on a disk that failed is made nowhere else', async () => {
  const files = new MemoryFileSystem()
  const { store } = await startedOn(files)
  const id = { topic: 't', topicId: newTopicId(), partition: 0 }
  // The directory of the log is synced first, then the one that it is in.
  files.faults.add({ operation: 'sync directory', path: '/data', error: 'EIO' })
  expect(codeOf(() => store.create(id, topicSettings()))).toBe('MR_LOG_DIRECTORY_OFFLINE')
  expect(holders(files, 't-0')).toEqual(['/data'])
  expect(codeOf(() => store.create(id, topicSettings()))).toBe('MR_LOG_DIRECTORY_OFFLINE')
  expect(holders(files, 't-0')).toEqual(['/data'])
})

test('a log whose removal cannot be made durable takes its directory out of service, where nothing is removed or synced any more', async () => {
  const files = new MemoryFileSystem()
  const { store } = await startedOn(files)
  const [first, second, third] = [0, 1, 2].map(partition => store.create({ topic: 't', topicId: newTopicId(), partition }, topicSettings()))
  files.faults.add({ operation: 'sync directory', path: '/data', error: 'EIO', times: 1 })
  expect(codeOf(() => { store.remove(first!.id.topicId, 0) })).toBe('MR_LOG_DIRECTORY_OFFLINE')
  const calls: string[] = []
  files.observe = ({ kind, path }) => { if (/^\/data(\/|$)/.test(path)) calls.push(`${kind} ${path}`) }
  expect(codeOf(() => { store.remove(third!.id.topicId, 2) })).toBe('MR_LOG_DIRECTORY_OFFLINE')
  expect(calls).toEqual([])
  store.remove(second!.id.topicId, 1)
  expect(holders(files, 't-1')).toEqual([])
})

test('a first timestamp that cannot be read when a batch is appended takes the directory out of service', async () => {
  const files = new MemoryFileSystem()
  const before = await startedOn(files)
  const id = { topic: 't', topicId: newTopicId(), partition: 0 }
  fill(before.store.create(id, topicSettings()), 3)
  await before.store.stop()
  const { store } = await startedOn(files)
  const log = store.find(id.topicId, 0)!
  log.configure(topicSettings())
  files.faults.add({ operation: 'read', path: /\.log$/, error: 'EIO', times: 1 })
  expect(codeOf(() => append(log, makeBatch(1)))).toBe('MR_LOG_DIRECTORY_OFFLINE')
  expect(files.faults.failures).toBe(1)
})
