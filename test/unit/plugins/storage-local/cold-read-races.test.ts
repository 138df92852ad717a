import { describe, expect, it } from 'vitest'
import { type File } from '../../../../src/kernel/ports/file-system.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { append, makeBatch, newLog, recordsOf } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from './store-subjects.ts'

/** Reads off the loop wait here until the test lets them go on. */
class HeldReads extends MemoryFileSystem {
  readonly held: (() => void)[] = []

  override open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    const file = super.open(path, mode)
    const { held } = this
    file.readLater = (target, at, length, position, done) => {
      held.push(() => { done(undefined, file.read(target, at, length, position)) })
    }
    return file
  }
}

const settings = topicSettings({ segmentBytes: 20_000, retentionMs: 60_000, fileDeleteDelayMs: 1000 })

/** A log of four segments with large batches, of which nothing counts as resident. */
async function coldLog() {
  const timers = new ManualTimers()
  const files = new HeldReads({ clock: timers.clock })
  const { store, fatalErrors } = makeStore({ files, timers, config: { residentBytes: 0 } })
  await store.start()
  const log = newLog({ store }, settings)
  for (let count = 0; count < 12; count++) append(log, makeBatch([{ timestamp: timers.clock.wallMs(), value: 'x'.repeat(6000) }]))
  await store.flush()
  log.raiseHighWatermark(12)
  return { timers, files, store, log, fatalErrors }
}

type Cold = Awaited<ReturnType<typeof coldLog>>

/** Begins a read of the batch at `offset`; the list gets how it ended, as often as it did. */
function beginRead(log: PartitionLog, offset: number, ends: string[]): void {
  // So small that the header of the batch, and then all of it, have to be read again.
  log.read({ offset, endOffset: 12, maxBytes: 1, atLeastOneBatch: true }, {
    read(bytes, release) {
      ends.push(recordsOf(bytes).map(record => record.offset).join())
      release()
    },
    failed: error => { ends.push((error as { code?: string }).code ?? String(error)) },
  })
}

const races: Record<string, { readonly run: (cold: Cold) => void, readonly ends: readonly string[] }> = {
  'retention': { run: ({ timers, store }) => { timers.clock.advance(120_000); expect(store.sweep().segmentsDeleted).toBeGreaterThan(0) }, ends: ['1', 'MR_LOG_OFFSET_OUT_OF_RANGE'] },
  'retention, and the freeing of its files': { run: ({ timers, store }) => { timers.clock.advance(120_000); store.sweep(); timers.advance(2000) }, ends: ['1', 'MR_LOG_OFFSET_OUT_OF_RANGE'] },
  'a truncation below it': { run: ({ log }) => log.truncateTo(0), ends: ['1', 'MR_LOG_OFFSET_OUT_OF_RANGE'] },
  'a truncation that leaves its batch': { run: ({ log }) => log.truncateTo(2), ends: ['1'] },
  'the deletion of all before its segment\'s end': { run: ({ log }) => log.deleteTo(9), ends: ['1', 'MR_LOG_OFFSET_OUT_OF_RANGE'] },
  'the deletion of its topic': { run: ({ store, log, timers }) => { store.remove(log.id.topicId, 0); timers.advance(120_000) }, ends: ['1', 'MR_LOG_CLOSED'] },
  'setting its log aside': { run: ({ store, log }) => store.setAside(log.id.topicId, 0), ends: ['1', 'MR_LOG_CLOSED'] },
  'a stop': { run: ({ store }) => void store.stop(), ends: ['1', 'MR_LOG_CLOSED'] },
}

describe('a read off the loop, at each of its steps, against', () => {
  it.each(Object.entries(races))('%s: ends once, with its data or a clear error', async (_name, { run, ends: expected }) => {
    let steps = 0
    for (let step = 0; step <= steps; step++) {
      const cold = await coldLog()
      const ends: string[] = []
      beginRead(cold.log, 1, ends)
      for (let done = 0; done < step && cold.files.held.length > 0; done++) cold.files.held.shift()!()
      if (step === 0) {
        // How many steps an undisturbed read has.
        const undisturbed: string[] = []
        const other = await coldLog()
        beginRead(other.log, 1, undisturbed)
        for (; other.files.held.length > 0; steps++) other.files.held.shift()!()
        expect(undisturbed).toEqual(['1'])
        expect(steps).toBeGreaterThan(1)
        await other.store.stop()
      }
      run(cold)
      while (cold.files.held.length > 0) cold.files.held.shift()!()
      expect(ends).toHaveLength(1)
      expect(expected).toContain(ends[0])
      await cold.store.stop()
      expect(cold.fatalErrors).toEqual([])
      expect(cold.store.directories()[0]!.offline).toBeUndefined()
    }
  })
})
