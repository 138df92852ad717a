import { describe, expect, it } from 'vitest'
import { parsePartitionOffsets } from '../../../../src/kernel/log/checkpoint-text.ts'
import { parseTopicIds } from '../../../../src/plugins/storage-local/lost-logs.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { bytesOf, codeOf, makeStore } from './store-subjects.ts'

const config = { reserveBytes: 4096, residentBytes: 1 << 30 }
const settings = topicSettings({ segmentBytes: 300, durability: 'fsync' })
const [first, second] = [newTopicId(), newTopicId()]
const id = (topicId: string) => ({ topic: 'orders', topicId, partition: 0 })

async function started(files: MemoryFileSystem, timers = new ManualTimers()) {
  const made = makeStore({ files, timers, config })
  await made.store.start()
  return { ...made, timers }
}

/** A topic that is written to, checkpointed, deleted and made anew under its name, written to and checkpointed again. */
async function life(files: MemoryFileSystem): Promise<void> {
  const { store, timers } = await started(files)
  for (const topicId of [first, second]) {
    const log = store.create(id(topicId), settings)
    for (let index = 0; index < 5; index++) append(log, makeBatch(1))
    await store.flush()
    log.raiseHighWatermark(log.endOffset)
    timers.advance(6000)
    await settled()
    timers.advance(61_000)
    await settled()
    if (topicId === first) store.remove(topicId, 0)
  }
  await store.stop()
}

function textOf(files: MemoryFileSystem, name: string): string {
  if (files.stat(`/data/${name}`) === undefined) return ''
  return new TextDecoder().decode(bytesOf(files, `/data/${name}`))
}

describe('a crash at any call', () => {
  it.each(['none', 'all', 'some'] as const)('leaves no offset in a checkpoint without the topic that it is of, and no topic made anew under a name refused; %s of what was not synced kept', async kept => {
    let refused = 0
    for (let crashAt = 0; ; crashAt++) {
      const files = new MemoryFileSystem()
      let calls = 0
      let wreck: MemoryFileSystem | undefined
      files.observe = () => {
        if (calls++ === crashAt) wreck = files.afterCrash({ keepUnsynced: kept === 'some' ? new SeededRandom(crashAt) : kept })
      }
      await life(files)
      if (wreck === undefined) break
      const known = Math.max(...['recovery-point-offset-checkpoint', 'replication-offset-checkpoint'].map(name => parsePartitionOffsets(textOf(wreck!, name)).get('orders-0') ?? 0))
      const topicId = parseTopicIds(textOf(wreck, '.millrace-topic-ids')).get('orders-0')
      // Of a topic that is being deleted the offset may be the last to go.
      const metadata = textOf(wreck, 'orders-0/partition.metadata')
      if (known > 0 && metadata !== '') expect(metadata, `call ${crashAt}`).toContain(topicId)
      // The directory disappears too: what was lost is refused, what is new is not, and is there after another crash.
      const gone = wreck.afterCrash({ keepUnsynced: 'all' })
      for (const name of gone.list('/')[0] === 'data' ? gone.list('/data') : []) if (name.startsWith('orders-0')) gone.remove(`/data/${name}`)
      const { store } = await started(gone)
      if (known > 0 && metadata !== '') {
        expect(codeOf(() => store.create(id(topicId!), settings)), `call ${crashAt}`).toBe('MR_LOG_MISSING')
        refused++
      }
      const fresh = newTopicId()
      append(store.create(id(fresh), settings), makeBatch(3))
      await store.flush()
      const again = await started(gone.afterCrash({ keepUnsynced: 'none' }))
      expect(again.store.find(fresh, 0)?.endOffset, `call ${crashAt}`).toBe(3)
      expect(again.logger.lines.filter(line => line.level === 'error'), `call ${crashAt}`).toEqual([])
    }
    expect(refused).toBeGreaterThan(3)
  })
})
