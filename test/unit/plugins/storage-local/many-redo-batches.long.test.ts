import { expect, it } from 'vitest'
import { append, makeBatch } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

const id = { topic: 'small', topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 }
/** More than a call can be given as arguments: the redo log holds several times as many of one record each. */
const batches = 200_000

it('a start after a crash puts back as many small batches of one log as the redo log has', { timeout: 120_000 }, async () => {
  const files = new MemoryFileSystem()
  const config = { residentBytes: 1 << 30, reserveBytes: 4096, redoBytesMax: 128 << 20 }
  const { store } = makeStore({ files, timers: new ManualTimers(), config })
  await store.start()
  const log = store.create(id, topicSettings({ durability: 'fsync' }))
  // Synced in place, while the redo log makes its first file.
  append(log, makeBatch(1), 0)
  await settled()
  await store.flush()
  const batch = makeBatch([{ timestamp: 1000, value: '' }])
  for (let count = 0; count < batches; count++) {
    append(log, batch.slice(), 0)
    if (count % 500 === 0) await settled()
  }
  await settled()
  expect(log.flushedOffset).toBe(log.endOffset)
  expect(log.state.synced).toBeLessThan(batches / 4)
  const again = makeStore({ files: files.afterCrash({ keepUnsynced: 'none' }), timers: new ManualTimers(), config })
  await again.store.start()
  expect(again.store.find(id.topicId, 0)?.endOffset).toBe(log.endOffset)
})
