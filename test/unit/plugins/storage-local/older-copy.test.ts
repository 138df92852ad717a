import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, codeOf, makeStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const id = { topic: 't', topicId: newTopicId(), partition: 0 }
const directory = '/data/t-0'
const durable = topicSettings({ segmentBytes: 700, durability: 'fsync' })

async function started(files: MemoryFileSystem, redoBytesMax: number, timers = new ManualTimers()) {
  const made = makeStore({ files, timers, config: { reserveBytes: 0, residentBytes: 1 << 30, redoBytesMax } })
  await made.store.start()
  return { ...made, timers }
}

/** A life of a log in which its directory is copied after so many records of thirty; a high watermark is in its checkpoint at the end. */
async function life(copyAt: number, ended: 'stopped' | 'killed' | 'cut off', redoBytesMax: number, settings = durable) {
  const files = new MemoryFileSystem()
  const { store, timers } = await started(files, redoBytesMax)
  const log = store.create(id, settings)
  const copy = new Map<string, Uint8Array>()
  for (let count = 0; count < 30; count++) {
    append(log, makeBatch([{ timestamp: 1000 + count, value: `value ${count}` }]), 0)
    await settled()
    log.raiseHighWatermark(log.flushedOffset)
    if (count + 1 === copyAt) for (const name of files.list(directory)) copy.set(name, bytesOf(files, `${directory}/${name}`))
    // The recovery point is somewhere below the end.
    if (count === 7) timers.advance(61_000)
    await settled()
  }
  await store.flush()
  log.raiseHighWatermark(log.endOffset)
  timers.advance(6000)
  await settled()
  if (ended === 'stopped') await store.stop()
  // Names that nothing waits for are on the disk soon, too.
  else files.syncDirectory('/data')
  const left = files.afterCrash({ keepUnsynced: ended === 'cut off' ? 'none' : 'all' })
  for (const name of left.list(directory)) left.remove(`${directory}/${name}`)
  for (const [name, bytes] of copy) {
    const file = left.open(`${directory}/${name}`, 'create')
    file.write([bytes], 0)
    file.syncNow()
  }
  left.syncDirectory(directory)
  const again = await started(left, redoBytesMax)
  const found = again.store.find(id.topicId, 0)!
  const code = codeOf(() => { found.configure(settings) })
  const values = code === 'ok' ? (await readRecords(subject, found, 0)).length : 0
  return { code, values, errors: again.logger.lines.filter(({ level }) => level === 'error').length, lines: again.logger.lines, found, store: again.store }
}

describe('an older copy of a partition directory that is put back by hand', () => {
  for (const redoBytesMax of [0, 1 << 20]) {
    it.each(['stopped', 'killed', 'cut off'] as const)(`is never taken without a word for all that there was, when the broker was %s; redo log of ${redoBytesMax} bytes`, async ended => {
      for (let copyAt = 1; copyAt <= 30; copyAt++) {
        const { code, values, errors } = await life(copyAt, ended, redoBytesMax)
        if (code === 'ok' && values === 30) continue
        expect(errors, `copied after ${copyAt} records: ${code}, ${values} are there`).toBeGreaterThan(0)
      }
    })
  }

  it('is out of service after a stop or a kill, and served with what there is after a power cut', async () => {
    expect(await life(10, 'stopped', 0)).toMatchObject({ code: 'MR_LOG_CORRUPT' })
    expect(await life(10, 'killed', 0)).toMatchObject({ code: 'MR_LOG_CORRUPT' })
    expect(await life(29, 'cut off', 0)).toMatchObject({ code: 'ok', values: 29, errors: 1 })
  })
})

describe('a log that ends below its high watermark after a power cut', () => {
  it('is a warning with durability os, which does not promise more', async () => {
    const ended = await life(29, 'cut off', 0, { ...durable, durability: 'os' })
    expect(ended).toMatchObject({ code: 'ok', values: 29, errors: 0, found: { missing: undefined } })
    expect(ended.lines.filter(({ level }) => level === 'warn')).toMatchObject([{ message: expect.stringContaining('ends below its high watermark') as string, fields: { end: 29, highWatermark: 30 } }])
  })

  it('tells which offsets are missing, degrades the health, and is well again when its start is behind where they began', async () => {
    const { found, store } = await life(27, 'cut off', 0)
    expect(found.missing).toMatchObject({ first: 27, last: 29 })
    expect(store.check()).toEqual({ state: 'degraded', detail: expect.stringMatching(/^1 log misses .* from offset 27 of t-0 up to 29; .*produce what is missing again/) })
    expect(store.integrity.lostTails).toEqual([{ topic: 't', partition: 0, first: 27, last: 29 }])
    for (let count = 0; count < 5; count++) append(found, makeBatch([{ timestamp: 2000, value: `other ${count}` }]), 0)
    await store.flush()
    found.raiseHighWatermark(found.endOffset)
    found.deleteTo(27)
    expect(store.check().state).toBe('degraded')
    found.deleteTo(28)
    expect([found.missing, store.check().state, store.integrity.lostTails]).toEqual([undefined, 'ok', []])
    await store.stop()
  })

  it('is forgotten with the topic: another one of its name misses nothing', async () => {
    const { store } = await life(27, 'cut off', 0)
    store.remove(id.topicId, 0)
    expect(store.check().state).toBe('ok')
    await store.stop()
  })
})
