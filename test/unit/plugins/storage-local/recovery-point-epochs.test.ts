import { describe, expect, it } from 'vitest'
import { type File } from '../../../../src/kernel/ports/file-system.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { makeStore } from './store-subjects.ts'

/** An index entry for each batch but the first, so that recovery begins right at its recovery point. */
const settings = topicSettings({ segmentBytes: 2000, indexIntervalBytes: 100, fileDeleteDelayMs: 500 })
const config = { reserveBytes: 4096, residentBytes: 1 << 30, redoBytesMax: 0 }
const logCount = 3

/** A disk of which the test keeps the syncs of indexes, each until it is let go. */
class HeldIndexes extends MemoryFileSystem {
  readonly held: (() => void)[] = []
  holds = false

  override open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    const file = super.open(path, mode)
    const sync = file.sync.bind(file)
    file.sync = done => {
      if (this.holds && /index$/.test(path)) this.held.push(() => { sync(done) })
      else sync(done)
    }
    return file
  }
}

async function begun() {
  const [files, timers] = [new HeldIndexes(), new ManualTimers()]
  const { store } = makeStore({ files, timers, config })
  await store.start()
  const logs = Array.from({ length: logCount }, (_, partition) => store.create({ topic: 't', topicId: newTopicId(), partition }, settings))
  const put = async (epoch: number): Promise<void> => {
    for (const log of logs) for (let count = 0; count < 3; count++) append(log, makeBatch([{ timestamp: 1000, value: 'v'.repeat(120) }]), epoch)
    await store.flush()
  }
  return { files, timers, logs, put }
}

describe('leader epochs that begin while the recovery points of several logs move on', () => {
  it('begin after a power cut where they began, in each log, at whichever sync of an index they come', async () => {
    for (let at = 0; ; at++) {
      const { files, timers, logs, put } = await begun()
      await put(0)
      files.holds = true
      timers.advance(61_000)
      await settled()
      for (let turn = 0; turn < at && files.held.length > 0; turn++) {
        files.held.shift()!()
        await settled()
      }
      // All of the round was gone through.
      if (files.held.length === 0) return expect(at).toBeGreaterThanOrEqual(2 * logCount)
      await put(1)
      // A power cut that takes nothing, at each step: the checkpoint may be on the disk as soon as it is in place.
      const images: MemoryFileSystem[] = []
      const take = (): void => { images.push(files.afterCrash({ keepUnsynced: 'all', systemDown: true })) }
      files.observe = take
      files.holds = false
      for (const run of files.held.splice(0)) run()
      await settled()
      files.observe = undefined
      take()
      for (const [index, image] of images.entries()) {
        const { store, logger } = makeStore({ files: image, timers: new ManualTimers(timers.clock), config })
        await store.start()
        const found = logs.map(({ id }) => store.find(id.topicId, id.partition)!.state)
        expect(found.map(({ epochs, end }) => [epochs.all, end]), `sync ${at}, step ${index}`).toEqual(logs.map(({ state }) => [state.epochs.all, state.end]))
        expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
      }
    }
  })
})
