import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, makeStore } from './store-subjects.ts'

const id = { topic: 't', topicId: newTopicId(), partition: 0 }
const settings = topicSettings({ segmentBytes: 500, indexIntervalBytes: 100 })
const suffixes = ['.index', '.timeindex', '.sum'] as const

interface Config { readonly redoBytesMax: number }

async function storeOn(files: MemoryFileSystem, timers: ManualTimers, config: Config) {
  // A start makes indexes before it knows the topic's settings.
  const made = makeStore({ files, timers, settings: { 'log.index.interval.bytes': String(settings.indexIntervalBytes) }, config: { reserveBytes: 0, residentBytes: 1 << 30, ...config } })
  await made.store.start()
  return made
}

/** A log whose recovery point is its end, and which has just begun a new segment there: nothing that was written beside the closed one is synced. */
async function closedAtPoint(config: Config) {
  const files = new MemoryFileSystem()
  const timers = new ManualTimers()
  const { store } = await storeOn(files, timers, config)
  const log = store.create(id, settings)
  for (let count = 0; count < 4; count++) append(log, makeBatch([{ timestamp: 1000 + count, value: 'v'.repeat(20) }]), 0)
  await store.flush()
  timers.advance(61_000)
  await settled()
  expect(log.state.recoveryPoint()).toBe(log.endOffset)
  append(log, makeBatch([{ timestamp: 2000, value: 'v'.repeat(300) }]), 0)
  const [closed, active] = log.state.segments
  expect(active!.baseOffset).toBe(4)
  const sides = suffixes.map(suffix => closed!.path(suffix))
  return { files, timers, sides, written: contentOf(files, sides) }
}

function contentOf(files: MemoryFileSystem, paths: readonly string[]): Record<string, string> {
  return Object.fromEntries(paths.map(path => [path, files.stat(path) === undefined ? 'none' : Buffer.from(bytesOf(files, path)).toString('hex')]))
}

describe.each([['with a redo log', { redoBytesMax: 1 << 20 }], ['without a redo log', { redoBytesMax: 0 }]])('files beside a segment that was closed at the recovery point, %s', (_what, config) => {
  it('are there and on the disk after the next start, whatever a power cut has left of them', async () => {
    const { files, timers, sides, written } = await closedAtPoint(config)
    let [whole, others] = [0, 0]
    for (const { what, files: left } of files.crashMoment().images({ random: 40, seed: 1, blockBytes: 512, subsetsOf: 8 })) {
      const before = contentOf(left, sides)
      const { store } = await storeOn(left, timers, config)
      const [first, second] = store.find(id.topicId, 0)!.state.segments
      // The new segment, of which nothing was promised, is not there: then the one before is the last one.
      if (second === undefined || first!.isActive) continue
      if (JSON.stringify(before) === JSON.stringify(written)) whole++
      else others++
      expect(contentOf(left, sides), what).toEqual(written)
      expect(contentOf(left.afterCrash({ keepUnsynced: 'none' }), sides), `${what}, and a power cut after the start`).toEqual(written)
    }
    expect(Math.min(whole, others)).toBeGreaterThan(0)
  })

  it('are on the disk after the start that follows a kill', async () => {
    const { files, timers, sides, written } = await closedAtPoint(config)
    const left = files.afterCrash({ keepUnsynced: 'all' })
    expect(contentOf(left.afterCrash({ keepUnsynced: 'none' }), sides)).not.toEqual(written)
    await storeOn(left, timers, config)
    expect(contentOf(left.afterCrash({ keepUnsynced: 'none' }), sides)).toEqual(written)
  })
})
