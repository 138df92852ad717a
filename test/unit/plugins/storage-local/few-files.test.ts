import { expect, it } from 'vitest'
import { append, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { keyedBatch } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, makeStore } from './store-subjects.ts'

const settings = topicSettings({ segmentBytes: 1 << 20 })

it.each(['create', 'open'] as const)('checkpoints for which no file can be had (%s: EMFILE) are left out with a word, the directory stays in service, and they are written later', async operation => {
  const [timers, files] = [new ManualTimers(), new MemoryFileSystem()]
  const { store, logger, fatalErrors } = makeStore({ files, timers, directories: ['/data'] })
  await store.start()
  const log = store.create({ topic: 'a', topicId: newTopicId(), partition: 0 }, settings)
  const put = (value: string): void => { append(log, keyedBatch([{ key: 'k', value }]), 0) }
  put('before')
  void store.flush()
  await settled()
  const cancel = files.faults.add({ operation, error: 'EMFILE', path: /checkpoint/, times: Infinity })
  for (let minute = 0; minute < 3; minute++) {
    log.raiseHighWatermark(log.flushedOffset)
    timers.advance(61_000)
    await settled()
    put(`minute ${minute}`)
    void store.flush()
    await settled()
  }
  expect(files.faults.failures).toBeGreaterThan(0)
  expect(store.directories()[0]!.offline).toBeUndefined()
  expect(fatalErrors).toEqual([])
  expect(logger.lines.some(({ message }) => message.startsWith('no file can be opened'))).toBe(true)
  cancel()
  log.raiseHighWatermark(log.flushedOffset)
  timers.advance(61_000)
  await settled()
  const text = new TextDecoder().decode(bytesOf(files, '/data/replication-offset-checkpoint'))
  expect(text).toContain(`a 0 ${log.highWatermark}`)
  await store.stop()
})
