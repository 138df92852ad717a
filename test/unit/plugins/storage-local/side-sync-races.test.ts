import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, makeStore } from './store-subjects.ts'

const id = { topic: 't', topicId: newTopicId(), partition: 0 }
const settings = topicSettings({ segmentBytes: 500, indexIntervalBytes: 100, fileDeleteDelayMs: 500 })

/** A log whose syncs end when the test lets them. */
async function begun(seed: number) {
  const prng = new Prng(seed)
  const waiting: (() => void)[] = []
  const after = (_delayMs: number, end: () => void) => {
    waiting.push(end)
    return { cancel: () => {} }
  }
  const files = new MemoryFileSystem({ timers: { after, soon: queueMicrotask } })
  const timers = new ManualTimers()
  const { store } = makeStore({ files, timers, config: { reserveBytes: 0, residentBytes: 1 << 30, redoBytesMax: prng.pick([0, 1 << 20]) } })
  await store.start()
  const log = store.create(id, settings)
  const operations = {
    append: (): void => { append(log, makeBatch([{ timestamp: 1000 + log.endOffset, value: 'v'.repeat(prng.between(10, 90)) }]), 0) },
    roll: (): void => { for (let count = 0; count < 6; count++) operations.append() },
    checkpoint: (): void => { timers.advance(61_000) },
    deletePrefix: (): void => {
      log.raiseHighWatermark(log.flushedOffset)
      log.deleteTo(prng.between(log.startOffset, log.highWatermark))
    },
    truncate: (): void => {
      log.truncateTo(Math.max(log.startOffset, log.state.segments.at(-1)!.baseOffset - prng.between(0, 3)))
      operations.roll()
    },
    endOne: (): void => { waiting.splice(prng.below(waiting.length || 1), 1)[0]?.() },
    endAnother: (): void => { waiting.shift()?.() },
    // What begins behind a sync that has ended is the last: all of one row ends, and what was begun before and after goes on.
    endRow: async (): Promise<void> => {
      operations.endOne()
      for (let count = 0; count < 4; count++) {
        await settled()
        waiting.pop()?.()
      }
    },
  }
  const endAll = async (): Promise<void> => {
    for (; waiting.length > 0; await settled()) for (const end of waiting.splice(0)) end()
  }
  return { prng, files, log, endAll, operations }
}

/** The files beside closed segments that count as on the disk, and are not what a power cut would leave of them. */
function notThere({ files, log }: Awaited<ReturnType<typeof begun>>): string[] {
  const left = files.afterCrash({ keepUnsynced: 'none' })
  const wrong: string[] = []
  for (const segment of log.state.segments) {
    if (!segment.sidesSynced || segment.isActive) continue
    for (const suffix of ['.index', '.timeindex', '.sum'] as const) {
      const path = segment.path(suffix)
      if (left.stat(path) === undefined || !Buffer.from(bytesOf(left, path)).equals(bytesOf(files, path))) wrong.push(path)
    }
  }
  return wrong
}

describe('files beside a closed segment that count as on the disk', () => {
  it.each(Array.from({ length: 30 }, (_, index) => index + 1))('are there, whatever came while their syncs were under way, by seed %i', async seed => {
    const life = await begun(seed)
    const done: string[] = []
    for (let step = 0; step < 60; step++) {
      const name = life.prng.pick(Object.keys(life.operations) as (keyof typeof life.operations)[])
      done.push(name)
      await life.operations[name]()
      await settled()
      expect(notThere(life), `seed ${seed}: ${done.join(', ')}`).toEqual([])
    }
    await life.endAll()
    expect(life.log.state.segments.filter(segment => !segment.isActive && !segment.sidesSynced), `seed ${seed}: ${done.join(', ')}`).toEqual([])
    expect(notThere(life)).toEqual([])
  })
})
