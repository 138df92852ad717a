import { describe, expect, it } from 'vitest'
import { type SegmentedLog } from '../../../../src/plugins/storage-local/segmented-log.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

const id = { topic: 't', topicId: newTopicId(), partition: 0 }
const settings = topicSettings({ retentionMs: -1, durability: 'fsync' })
const directory = '/data/t-0'
const path = `${directory}/00000000000000000000.log`
/** Leader epochs of the batches; the metadata know 3 then, and a start raises it to 4. */
const epochs = [0, 0, 2, 2, 2, 3, 3, 3]

/** Of the four bytes of an epoch, the largest first: each bit that may lead from one of these epochs to another, and some of the others. */
const bits = [0, 6, 7, 8, 23, 24, 25, 26, 27]

async function open(files: MemoryFileSystem, redoBytesMax: number) {
  const made = makeStore({ files, timers: new ManualTimers(), config: { redoBytesMax } })
  await made.store.start()
  return made
}

/** A log above its recovery point, without checksums on the disk, as a crash leaves it. */
async function crashed(systemDown: boolean, redoBytesMax: number): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store } = await open(files, redoBytesMax)
  const log = store.create(id, settings)
  for (const epoch of epochs) {
    append(log, makeBatch(1), epoch)
    for (let turn = 0; turn < 4; turn++) await settled()
  }
  expect(log.flushedOffset).toBe(epochs.length)
  return files.afterCrash({ keepUnsynced: 'all', systemDown })
}

describe('a wrong bit in the leader epoch of a batch above the recovery point', () => {
  for (const systemDown of [false, true]) {
    for (const redoBytesMax of [0, 1 << 20]) {
      it(`after ${systemDown ? 'a power cut' : 'a kill'} ${redoBytesMax === 0 ? 'without' : 'with'} a redo log: epochs never go back, what is not served is kept and told, and an epoch that is too high is the last one, for the broker to see`, async () => {
        const image = await crashed(systemDown, redoBytesMax)
        const batchBytes = image.stat(path)!.bytes / epochs.length
        const outcomes = new Set<string>()
        for (let batch = 0; batch < epochs.length; batch++) {
          for (const bit of bits) {
            const files = image.afterCrash({ keepUnsynced: 'all', systemDown: false })
            files.damage.flipBit(path, batch * batchBytes + 12 + (bit >> 3), bit & 7)
            const where = `bit ${bit} of batch ${batch}`
            const { store, logger } = await open(files, redoBytesMax)
            const log = store.find(id.topicId, 0) as SegmentedLog
            expect(log.state.failure, where).toBeUndefined()
            const all = log.state.epochs.all.map(({ epoch }) => epoch)
            expect(all, where).toEqual([...all].sort((one, other) => one - other))
            if (log.endOffset < epochs.length) {
              expect(logger.lines.some(({ level, message }) => level === 'warn' && message.includes('set aside')), where).toBe(true)
              expect(files.list(directory).some(name => name.includes('set-aside')), where).toBe(true)
              outcomes.add('set aside')
            }
            log.configure(settings)
            if (log.lastEpoch > 3) {
              outcomes.add('ahead')
              continue
            }
            expect(append(log, makeBatch(1), 4).baseOffset, where).toBe(log.endOffset - 1)
            outcomes.add('served')
          }
        }
        expect([...outcomes].sort()).toEqual(['ahead', 'served', 'set aside'])
      })
    }
  }
})
