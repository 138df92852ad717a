import { describe, expect, it } from 'vitest'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore, type TestStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const id = { topic: 'redone', topicId: newTopicId(), partition: 0 }
const segment = '/data/redone-0/00000000000000000000.log'
const redoDirectory = '/data/__millrace_redo'
const settings = topicSettings({ durability: 'fsync' })

const make = (files: MemoryFileSystem, directories?: readonly string[], seed = 1): TestStore =>
  makeStore({ files, seed, timers: new ManualTimers(), ...(directories === undefined ? {} : { directories }) })

async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve()
}

/** A log of a store whose redo log takes what is appended; its first record was synced in the segment. */
async function begun(files: MemoryFileSystem, directories?: readonly string[], seed = 1) {
  const made = make(files, directories, seed)
  await made.store.start()
  const log = made.store.create(id, settings)
  append(log, makeBatch(1))
  await turns()
  await made.store.flush()
  append(log, makeBatch([{ timestamp: 1, value: 'in the redo log' }]))
  await turns()
  expect(log.flushedOffset).toBe(2)
  expect(made.store.redoFigures()[0]!.batches).toBeGreaterThan(0)
  return { ...made, log }
}

function errorOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

const corrupt = (log: PartitionLog | undefined): boolean => isMillraceError(errorOf(() => log!.locate(0, 1)), 'MR_LOG_CORRUPT')

describe('a store with a redo log', () => {
  it.each([
    ['a file in the place of its directory', redoDirectory, false, /it is no directory/],
    ['a directory in the place of one of its files', `${redoDirectory}/00000001.redo`, true, /00000001\.redo is no file/],
  ])('is not started after a crash with %s', async (_what, path, isDirectory, reason) => {
    const files = new MemoryFileSystem()
    await begun(files)
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    crashed.remove(path)
    if (isDirectory) crashed.makeDirectory(path)
    else crashed.open(path, 'create').close()
    const error = await make(crashed).store.start().then(() => undefined, (thrown: unknown) => thrown)
    expect(isMillraceError(error, 'MR_LOG_REDO_CORRUPT')).toBe(true)
    expect(String(error)).toMatch(reason)
  })

  it('says after a crash what it has checked and what it took from the redo log', async () => {
    const files = new MemoryFileSystem()
    await begun(files)
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    const loaded = async (disk: MemoryFileSystem) => {
      const { store, logger } = make(disk, undefined, 2)
      await store.start()
      const fields = logger.lines.find(({ message }) => message === 'logs are loaded')!.fields
      await store.stop()
      return fields
    }
    const found = await loaded(crashed)
    expect(found['redoneBytes']).toBe(makeBatch([{ timestamp: 1, value: 'in the redo log' }]).length)
    expect(found['checkedBytes']).toBeGreaterThanOrEqual(found['redoneBytes'] as number)
    expect(await loaded(crashed)).toMatchObject({ logs: 1, redoneBytes: 0, cutBytes: 0 })
  })

  const copyRedo = (from: MemoryFileSystem, to: MemoryFileSystem): void => {
    to.makeDirectory(redoDirectory)
    for (const name of from.list(redoDirectory)) {
      const source = from.open(`${redoDirectory}/${name}`, 'read')
      const bytes = new Uint8Array(source.size())
      source.read(bytes, 0, bytes.length, 0)
      to.open(`${redoDirectory}/${name}`, 'create').write([bytes], 0)
    }
  }

  it.each([
    ['was taken away', (): void => {}, /there is none/],
    ['was replaced by that of another run', (files: MemoryFileSystem, other: MemoryFileSystem): void => { copyRedo(other, files) }, /another run/],
    ['has lost all of its files', (files: MemoryFileSystem): void => { files.makeDirectory(redoDirectory) }, /no files/],
  ])('is not started after a crash when the redo log %s, until somebody gives it up', async (_what, change, reason) => {
    const [files, other] = [new MemoryFileSystem(), new MemoryFileSystem()]
    await begun(files)
    await begun(other, undefined, 2)
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    crashed.remove(redoDirectory)
    const old = other.afterCrash({ keepUnsynced: 'none' })
    // Groups are of this directory, as in an old copy of it.
    if (String(reason).includes('another')) copyFile(old, crashed, '/data/meta.properties')
    change(crashed, old)
    const error = await make(crashed).store.start().then(() => undefined, (thrown: unknown) => thrown)
    expect(isMillraceError(error, 'MR_LOG_REDO_MISSING')).toBe(true)
    expect(String(error)).toMatch(reason)
    expect(String(error)).toContain('remove /data/.millrace-redo-run')
    crashed.remove('/data/.millrace-redo-run')
    await make(crashed).store.start()
  })

  it('needs a redo log from its first file on, and none after an orderly stop or when there was none', async () => {
    const files = new MemoryFileSystem()
    const { store } = make(files)
    await store.start()
    const mark = (): boolean => files.stat('/data/.millrace-redo-run') !== undefined
    expect(mark()).toBe(false)
    append(store.create(id, settings), makeBatch(1))
    await turns()
    expect([mark(), files.stat(redoDirectory)?.kind]).toEqual([true, 'directory'])
    await store.stop()
    expect([mark(), files.stat(redoDirectory)]).toEqual([false, undefined])
  })

  it('asks for a redo log, whichever it is, when the file that names it is damaged', async () => {
    const files = new MemoryFileSystem()
    await begun(files)
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    crashed.flipBit('/data/.millrace-redo-run', 18, 0)
    const { store } = make(crashed.afterCrash({ keepUnsynced: 'all' }))
    await store.start()
    expect(store.find(id.topicId, 0)!.endOffset).toBe(2)
    crashed.remove(redoDirectory)
    await expect(make(crashed).store.start()).rejects.toMatchObject({ code: 'MR_LOG_REDO_MISSING' })
  })

  it('takes rot in what was synced in a segment for rot, also when no group follows that says so', async () => {
    const files = new MemoryFileSystem()
    const timers = new ManualTimers()
    const { store } = makeStore({ files, timers })
    await store.start()
    const log = store.create(id, settings)
    append(log, makeBatch([{ timestamp: 1, value: 'x'.repeat(200 * 1024) }]))
    await turns()
    expect(log.flushedOffset).toBe(1)
    timers.advance(61_000)
    await turns()
    // The name of the checkpoint reaches the disk by itself.
    const crashed = files.afterCrash({ keepUnsynced: 'all' })
    crashed.flipBit(segment, 100_000, 1)
    const { store: again } = make(crashed)
    await again.start()
    expect(corrupt(again.find(id.topicId, 0))).toBe(true)
  })

  it('serves the others when something that is no file is in the place of a segment, and puts what it has for it aside', async () => {
    const files = new MemoryFileSystem()
    await begun(files)
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    crashed.remove(segment)
    crashed.makeDirectory(segment)
    const { store, logger } = make(crashed)
    await store.start()
    expect(corrupt(store.find(id.topicId, 0))).toBe(true)
    expect(append(store.create({ ...id, topic: 'other', topicId: newTopicId() }, settings), makeBatch(1)).baseOffset).toBe(0)
    const aside = crashed.list('/data').filter(name => name.startsWith('redo-') && name.endsWith('-stray'))
    expect(aside).toHaveLength(1)
    const [name] = crashed.list(`/data/${aside[0]!}`)
    const file = crashed.open(`/data/${aside[0]!}/${name!}`, 'read')
    const bytes = new Uint8Array(file.size())
    file.read(bytes, 0, bytes.length, 0)
    expect(new TextDecoder().decode(bytes)).toContain('in the redo log')
    expect(logger.lines.some(line => line.level === 'error' && line.message.includes('put aside'))).toBe(true)
    await store.stop()
  })

  it('keeps a log out of service that is damaged where the redo log alone knew that it was on the disk, at every start', async () => {
    const files = new MemoryFileSystem()
    const { log } = await begun(files)
    const damagedAt = files.open(segment, 'read').size()
    append(log, makeBatch([{ timestamp: 1, value: 'x'.repeat(200 * 1024) }]))
    await turns()
    expect(log.flushedOffset).toBe(3)
    // Goes with a barrier, which says so.
    append(log, makeBatch(1))
    await turns()
    expect(log.flushedOffset).toBe(4)
    let crashed = files.afterCrash({ keepUnsynced: 'none' })
    crashed.flipBit(segment, damagedAt + 70_000, 1)
    for (let round = 1; round <= 3; round++) {
      const { store } = make(crashed)
      await store.start()
      expect(corrupt(store.find(id.topicId, 0)), `start ${round}`).toBe(true)
      expect(crashed.list('/data/redone-0').filter(name => name.includes('set-aside'))).toEqual([])
      if (round === 2) await store.stop()
      else crashed = crashed.afterCrash({ keepUnsynced: 'none' })
    }
  })

  it('is not opened with a redo log of another directory id: what was acknowledged is not thrown away', async () => {
    const files = new MemoryFileSystem()
    await begun(files, ['/data', '/other'])
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    for (const path of ['/data/meta.properties', '/data/.millrace-directories', '/other/.millrace-directories']) crashed.remove(path)
    const { store } = make(crashed, ['/data', '/other'], 2)
    await store.start()
    expect(store.directories().find(({ path }) => path === '/data')!.offline).toMatch(/directory\.id/)
    expect(crashed.list(redoDirectory).length).toBeGreaterThan(0)
    await store.stop()
  })

  it('is opened with the id that its list has, where meta.properties is lost', async () => {
    const files = new MemoryFileSystem()
    await begun(files, ['/data', '/other'])
    const crashed = files.afterCrash({ keepUnsynced: 'none' })
    crashed.remove('/data/meta.properties')
    const { store } = make(crashed, ['/data', '/other'], 2)
    await store.start()
    expect(store.directories().map(({ offline }) => offline)).toEqual([undefined, undefined])
    await store.stop()
  })

  it('keeps all that was acknowledged of a log that it sets aside, whenever the power fails', async () => {
    const moments: MemoryFileSystem[] = []
    const files = new MemoryFileSystem()
    const { store } = await begun(files)
    files.observe = () => { moments.push(files.afterCrash({ keepUnsynced: 'none' })) }
    store.setAside(id.topicId, 0)
    files.observe = undefined
    moments.push(files.afterCrash({ keepUnsynced: 'none' }))
    expect(moments.length).toBeGreaterThan(5)
    for (const [index, crashed] of moments.entries()) {
      const { store: again } = make(crashed)
      await again.start()
      const log = again.find(id.topicId, 0)
      if (log !== undefined) expect(log.endOffset, `moment ${index}`).toBe(2)
      else {
        const stray = crashed.list('/data').find(name => name.startsWith('redone-0.') && name.endsWith('-stray'))
        expect(stray, `moment ${index}`).toBeDefined()
        expect(textOf(crashed, `/data/${stray!}/00000000000000000000.log`), `moment ${index}`).toContain('in the redo log')
      }
      await again.stop()
    }
  })

  it.each(['remove', 'setAside'] as const)('has nothing of a log that went (%s) in one that is made under the same id, and all that this one was given, whenever the power fails', async go => {
    const files = new MemoryFileSystem()
    const { store } = await begun(files)
    const moments: { readonly crashed: MemoryFileSystem, readonly flushed: number, readonly isMade: boolean }[] = []
    let made: PartitionLog | undefined
    const note = (): void => { moments.push({ crashed: files.afterCrash({ keepUnsynced: 'none' }), flushed: made?.flushedOffset ?? 0, isMade: made !== undefined }) }
    files.observe = note
    for (let life = 0; life < 3; life++) {
      made = undefined
      store[go](id.topicId, 0)
      made = store.create(id, settings)
      for (let count = 0; count < 3; count++) append(made, makeBatch([{ timestamp: 1, value: `of life ${life}` }]))
      await turns()
      expect(made.flushedOffset).toBe(3)
      note()
    }
    files.observe = undefined
    expect(moments.length).toBeGreaterThan(30)
    for (const [index, { crashed, flushed, isMade }] of moments.entries()) {
      const { store: again, logger } = make(crashed)
      await again.start()
      const log = again.find(id.topicId, 0)
      if (isMade) expect(log?.endOffset, `moment ${index}`).toBeGreaterThanOrEqual(flushed)
      const values = log === undefined ? [] : (await readRecords(subject, log)).map(({ value }) => value)
      expect(new Set(values).size, `moment ${index}: ${values.join(', ')}`).toBeLessThanOrEqual(values.includes('in the redo log') ? 2 : 1)
      if (isMade) expect(values).not.toContain('in the redo log')
      // What is set aside is out of sight before the redo log says so, and then kept twice.
      if (isMade || go === 'remove') expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([])
      await again.stop()
    }
  })

  it('knows a batch that is sent again although its record was deleted and the redo log alone had it', async () => {
    const files = new MemoryFileSystem()
    const { store } = make(files)
    await store.start()
    const log = store.create(id, settings)
    append(log, makeBatch(1))
    await turns()
    await store.flush()
    const sent = (): Uint8Array => makeBatch(1, { producerId: 7, producerEpoch: 0, baseSequence: 0 })
    append(log, sent())
    await turns()
    log.raiseHighWatermark(2)
    log.deleteTo(2)
    const { store: again } = make(files.afterCrash({ keepUnsynced: 'none' }))
    await again.start()
    const found = again.find(id.topicId, 0)!
    expect([found.startOffset, found.endOffset]).toEqual([2, 2])
    expect(append(found, sent())).toMatchObject({ duplicate: true, baseOffset: 1 })
    await again.stop()
  })

  it('acknowledges what a truncation that found the disk full has left, once it is in the segment', async () => {
    const files = new MemoryFileSystem()
    const { store, log } = await begun(files)
    for (let count = 0; count < 3; count++) append(log, makeBatch(1))
    files.faults.add({ operation: 'write', path: /recovery-point-offset-checkpoint/, error: 'ENOSPC', times: 2 })
    expect(isMillraceError(errorOf(() => log.truncateTo(1)), 'MR_FILE_NO_SPACE')).toBe(true)
    await turns()
    expect([log.endOffset, log.flushedOffset]).toEqual([5, 5])
    append(log, makeBatch(1))
    await turns()
    expect(log.flushedOffset).toBe(6)
    const { store: again } = make(files.afterCrash({ keepUnsynced: 'none' }))
    await again.start()
    expect((await readRecords(subject, again.find(id.topicId, 0)!)).map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 5])
    await again.stop()
    await store.stop()
  })
})

function copyFile(from: MemoryFileSystem, to: MemoryFileSystem, path: string): void {
  const source = from.open(path, 'read')
  const bytes = new Uint8Array(source.size())
  source.read(bytes, 0, bytes.length, 0)
  to.remove(path)
  to.open(path, 'create').write([bytes], 0)
}

function textOf(files: MemoryFileSystem, path: string): string {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  return new TextDecoder('latin1').decode(bytes)
}
