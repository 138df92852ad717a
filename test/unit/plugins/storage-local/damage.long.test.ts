import { describe, expect, it } from 'vitest'
import { putBaseOffset, batchBytesOf, baseOffsetOf } from '../../../../src/kernel/record/batch-header.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { bytesOf, makeStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const topicId = newTopicId()
const directory = '/data/damaged-0'
const config = { residentBytes: 1 << 30, reserveBytes: 4096 }
const settings = topicSettings({ segmentBytes: 300, indexIntervalBytes: 100, durability: 'os' })

function put(files: MemoryFileSystem, path: string, bytes: Uint8Array): void {
  const file = files.open(path, 'ensure')
  file.truncate(0)
  file.write([bytes], 0)
  file.syncNow()
  file.close()
}

/** A log of twelve records in four segments, killed: nothing of it has passed the recovery point. */
async function killed(records = 12): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store } = makeStore({ files, timers: new ManualTimers(), config })
  await store.start()
  const log = store.create({ topic: 'damaged', topicId, partition: 0 }, settings)
  for (let index = 0; index < records; index++) append(log, makeBatch([{ timestamp: 1000 + index, value: `value ${index} ${'x'.repeat(20)}` }]))
  return files.afterCrash({ keepUnsynced: 'all', systemDown: true })
}

async function recovered(files: MemoryFileSystem) {
  const { store, logger } = makeStore({ files, timers: new ManualTimers(), config })
  await store.start()
  const log = store.find(topicId, 0)!
  const lines = logger.lines.filter(line => line.level === 'error' || /set aside|cut/.test(line.message))
  return { store, log, lines, offsets: log.endOffset === 0 ? [] : (await readRecords(subject, log)).map(record => record.offset) }
}

const logNames = (files: MemoryFileSystem): string[] => files.list(directory).filter(name => name.endsWith('.log'))
const setAside = (files: MemoryFileSystem): string[] => files.list(directory).filter(name => name.includes('set-aside'))
const positionOf = (bytes: Uint8Array, count: number): number => {
  let at = 0
  for (let index = 0; index < count; index++) at += batchBytesOf(bytes, at)
  return at
}

/** Values that stand in the bytes of any of the files. */
function valuesIn(files: MemoryFileSystem, names: readonly string[]): Set<string> {
  const text = names.map(name => new TextDecoder('latin1').decode(bytesOf(files, `${directory}/${name}`))).join()
  return new Set(text.match(/value \d+ /g) ?? [])
}

describe('an invalid byte above the recovery point', () => {
  it('in a closed segment: the log ends before it, all that lies behind is kept, and a line says where', async () => {
    const files = await killed()
    const names = logNames(files)
    expect(names.length).toBeGreaterThan(3)
    const path = `${directory}/${names[1]!}`
    const base = Number(names[1]!.slice(0, 20))
    const bytes = bytesOf(files, path)
    const position = positionOf(bytes, 1)
    files.flipBit(path, position + 70, 2)
    const { store, offsets, lines, log } = await recovered(files)
    expect(offsets).toEqual(Array.from({ length: base + 1 }, (_, index) => index))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { segment: path, position, offset: base + 1, reason: 'the CRC does not match' } })
    expect(lines[0]!.fields['remedy']).toMatch(/produce them again/)
    const kept = setAside(files)
    expect(lines[0]!.fields['setAside']).toEqual(kept.map(name => `${directory}/${name}`))
    // The damaged batch as it was found, and every one behind it.
    expect(bytesOf(files, `${directory}/${names[1]!}.from-${position}.set-aside-1`).length).toBe(bytes.length - position)
    for (let index = base + 2; index < 12; index++) expect(valuesIn(files, kept), `record ${index}`).toContain(`value ${index} `)
    expect(append(log, makeBatch(1)).baseOffset).toBe(base + 1)
    await store.stop()
    const again = await recovered(files)
    expect(again.log.endOffset).toBe(base + 2)
    expect(setAside(files)).toEqual(kept)
    expect(again.lines.map(line => [line.level, line.message])).toEqual(kept.map(() => ['warn', 'bytes that were set aside are still here']))
    await again.store.stop()
  })

  it('in the last segment with intact batches behind it: the same; with none behind it: what was written last is cut', async () => {
    for (const [batch, message, kept] of [[0, /set aside/, 1], [-1, /^the end of a log was cut/, 0]] as const) {
      const files = await killed()
      const name = logNames(files).at(-1)!
      const bytes = bytesOf(files, `${directory}/${name}`)
      let count = 0
      for (let at = 0; at < bytes.length; at += batchBytesOf(bytes, at)) count++
      expect(count).toBeGreaterThan(1)
      const damaged = batch < 0 ? count - 1 : 0
      files.flipBit(`${directory}/${name}`, positionOf(bytes, damaged) + 70, 2)
      const { store, lines, log } = await recovered(files)
      expect(log.endOffset).toBe(Number(name.slice(0, 20)) + damaged)
      expect(lines.map(line => line.message)).toEqual([expect.stringMatching(message)])
      expect(setAside(files)).toHaveLength(kept)
      await store.stop()
    }
  })

  it('set aside twice at the same place: the second does not replace the first', async () => {
    let files = await killed()
    const name = logNames(files).at(-1)!
    const path = `${directory}/${name}`
    for (let round = 1; round <= 2; round++) {
      files.flipBit(path, 70, 2)
      const { store, log } = await recovered(files)
      expect(setAside(files)).toHaveLength(round)
      for (let index = 0; index < 2; index++) append(log, makeBatch([{ timestamp: 1000, value: `value ${100 * round + index} ${'y'.repeat(20)}` }]))
      expect(store.find(topicId, 0)!.endOffset).toBe(Number(name.slice(0, 20)) + 2)
      // The end of the log before is on the disk; without its checkpoint none of it counts as such.
      files = files.afterCrash({ keepUnsynced: 'all', systemDown: true })
      const checkpoint = '/data/recovery-point-offset-checkpoint'
      put(files, checkpoint, new TextEncoder().encode('0\n0\n'))
    }
  })

  it.each(['none', 'all', 'some'] as const)('a crash at any call of such a recovery, %s of what was not synced kept, leaves every intact batch in the log or beside it', async kept => {
    const names = logNames(await killed())
    const damage = async (): Promise<MemoryFileSystem> => {
      const files = await killed()
      files.flipBit(`${directory}/${names[1]!}`, 70, 2)
      for (const name of names) files.open(`${directory}/${name}`, 'update').syncNow()
      files.syncDirectory(directory)
      return files
    }
    const intact = Array.from({ length: 12 }, (_, index) => index).filter(index => index !== Number(names[1]!.slice(0, 20)))
    for (let crashAt = 0; ; crashAt++) {
      const files = await damage()
      let calls = 0
      let wreck: MemoryFileSystem | undefined
      files.observe = () => {
        if (calls++ === crashAt) wreck = files.afterCrash({ keepUnsynced: kept === 'some' ? new SeededRandom(crashAt) : kept })
      }
      const first = makeStore({ files, timers: new ManualTimers(), config })
      await first.store.start()
      if (wreck === undefined) break
      const { store, log } = await recovered(wreck)
      expect(log.endOffset, `call ${crashAt}`).toBe(Number(names[1]!.slice(0, 20)))
      const found = valuesIn(wreck, wreck.list(directory).filter(name => name.endsWith('.log') || /set-aside-\d+$/.test(name)))
      for (const index of intact) expect(found, `call ${crashAt}`).toContain(`value ${index} `)
      expect(wreck.list(directory).filter(name => name.endsWith('.tmp')), `call ${crashAt}`).toEqual([])
      await store.stop()
    }
  })
})

describe('a base offset, which no CRC covers,', () => {
  const lies: Record<string, (base: number) => number> = { 'too large by one': base => base + 1, 'too large by far': base => base + 2 ** 20, 'too small': base => base - 1 }
  it.each(Object.entries(lies))('%s: is not served above the recovery point, and its batch is set aside', async (_name, lie) => {
    const files = await killed()
    const path = `${directory}/${logNames(files)[1]!}`
    const bytes = bytesOf(files, path)
    const at = positionOf(bytes, 1)
    const base = baseOffsetOf(bytes, at)
    putBaseOffset(bytes, at, lie(base))
    put(files, path, bytes)
    const { store, log, lines } = await recovered(files)
    expect(log.endOffset).toBe(base)
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { position: at, offset: base, reason: expect.stringContaining('base offset') } })
    expect(valuesIn(files, setAside(files))).toContain(`value ${base} `)
    await store.stop()
  })

  it('that makes the batch reach into the next segment: is not served, also where no checkpoint says what was synced', async () => {
    const files = await killed()
    const names = logNames(files)
    const path = `${directory}/${names[1]!}`
    const bytes = bytesOf(files, path)
    let last = 0
    for (let at = 0; at < bytes.length; at += batchBytesOf(bytes, at)) last = at
    putBaseOffset(bytes, last, Number(names[2]!.slice(0, 20)))
    put(files, path, bytes)
    files.remove('/data/recovery-point-offset-checkpoint')
    const { store, log } = await recovered(files)
    expect(() => append(log, makeBatch(1))).toThrow(/reaches into the next segment/)
    await store.stop()
  })
})

describe('what should be a file and is a directory', () => {
  it.each(['.index', '.timeindex', '.snapshot', 'leader-epoch-checkpoint'])('%s: is set aside, and the log is served, appended to and rolled', async suffix => {
    const files = await killed()
    const name = suffix.startsWith('.') ? logNames(files)[1]!.replace('.log', suffix) : suffix
    files.remove(`${directory}/${name}`)
    files.makeDirectory(`${directory}/${name}/inside`)
    for (const end of ['killed', 'stopped']) {
      const { store, log, lines, offsets } = await recovered(files)
      expect(offsets.slice(0, 12)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
      expect(lines.filter(line => line.level === 'error')).toHaveLength(end === 'killed' ? 1 : 0)
      if (end === 'killed') expect(lines[0]).toMatchObject({ fields: { path: `${directory}/${name}`, movedTo: `${directory}/${name}.set-aside-1` } })
      expect(files.stat(`${directory}/${name}.set-aside-1/inside`)?.kind).toBe('directory')
      log.configure(settings)
      for (let index = 0; index < 4; index++) append(log, makeBatch([{ timestamp: 1, value: 'z'.repeat(100) }]), Math.max(0, log.lastEpoch))
      expect(store.directories()[0]!.offline).toBeUndefined()
      await store.stop()
    }
  })

  it('a segment: its log is not served, the others are', async () => {
    const files = await killed()
    const path = `${directory}/${logNames(files)[1]!}`
    files.remove(path)
    files.makeDirectory(path)
    const { store, logger } = makeStore({ files, timers: new ManualTimers(), config })
    await store.start()
    expect(() => append(store.find(topicId, 0)!, makeBatch(1))).toThrow(/it is no file/)
    expect(logger.lines.filter(line => line.level === 'error')).toHaveLength(1)
    expect(append(store.create({ topic: 'other', topicId: newTopicId(), partition: 0 }, settings), makeBatch(1)).baseOffset).toBe(0)
    await store.stop()
  })
})

describe('segments that are gone', () => {
  it.each([['the first', 0], ['one in the middle', 1], ['all', undefined]] as const)('%s, of a log that was stopped cleanly: it is not served with a hole, nor empty', async (_name, which) => {
    const files = await killed()
    const first = await recovered(files)
    await first.store.stop()
    const names = logNames(files)
    for (const name of which === undefined ? names : [names[which]!]) files.remove(`${directory}/${name}`)
    for (let life = 0; life < 2; life++) {
      const { store, logger } = makeStore({ files, timers: new ManualTimers(), config })
      await store.start()
      const log = store.find(topicId, 0)!
      expect(() => append(log, makeBatch(1))).toThrow(/missing|no segment/)
      expect(logger.lines.filter(line => line.level === 'error').map(line => line.fields['path'])).toEqual([directory])
      await store.stop()
    }
  })
})
