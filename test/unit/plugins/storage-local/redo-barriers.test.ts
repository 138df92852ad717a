import { describe, expect, it } from 'vitest'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { CutLog } from './cut-log.ts'

/** What else is done to the redo log, once the batches of the log are on the disk where they belong: a group that is written for it has no barriers. */
const others: Readonly<Record<string, (cut: CutLog, busy: PartitionLog) => unknown>> = {
  'nothing else': () => {},
  'another log is cut': (_cut, busy) => { busy.truncateTo(busy.endOffset - 1) },
  'another log is removed': ({ life: { store } }, busy) => { store.remove(busy.id.topicId, busy.id.partition) },
  'another log goes on': async (cut, busy) => {
    for (let count = 0; count < 2; count++) await write(cut, busy, 100)
  },
}

/** Where it is cut. */
const cuts: Readonly<Record<string, (cut: CutLog) => number>> = {
  'to 0': () => 0,
  'within it': cut => cut.bases.at(Math.floor(cut.bases.length / 2))!,
  'below its start, which a deletion has moved': cut => {
    cut.deleteTo(cut.bases.at(-3)!)
    return cut.bases[0]! - 6
  },
}

const busyId = { topic: 'busy', topicId: newTopicId(), partition: 0 }

async function write(cut: CutLog, busy: PartitionLog, bytes: number): Promise<void> {
  append(busy, makeBatch([{ timestamp: 1, value: 'x'.repeat(bytes) }]), 0)
  await cut.turns()
}

/** A log that is idle since the redo log took what it has, while another one has filled so many batches of large ones into the redo log. */
async function idleSince(batches: number): Promise<{ readonly cut: CutLog, readonly busy: PartitionLog }> {
  const cut = await CutLog.begin()
  const busy = cut.life.store.create(busyId, topicSettings())
  append(busy, makeBatch(1), 0)
  await cut.turns()
  await cut.life.store.flush()
  cut.put(12)
  await cut.turns()
  for (let count = 0; count < batches; count++) await write(cut, busy, 60_000)
  return { cut, busy }
}

describe.each(Object.keys(others))('a log that is cut, idle for as long as the redo log took what others append, and then %s', other => {
  it.each(Object.keys(cuts))('%s, holds after a power cut what it was given since, and nothing of before', async where => {
    let reclaimed = 0
    for (let batches = 6; batches < 16; batches++) {
      for (const since of [0, 15]) {
        const { cut, busy } = await idleSince(batches)
        await others[other]!(cut, busy)
        cut.truncateTo(cuts[where]!(cut))
        cut.put(since)
        await cut.turns()
        reclaimed = Math.max(reclaimed, cut.life.store.redoFigures()[0]!.reclaimed)
        try {
          expect(cut.log.flushedOffset).toBe(cut.log.endOffset)
          await (await cut.next('power cut')).check()
        } catch (error) {
          throw new Error(`${batches} batches of another log before, ${since} since`, { cause: error })
        }
      }
    }
    expect(reclaimed).toBeGreaterThan(0)
  })
})
