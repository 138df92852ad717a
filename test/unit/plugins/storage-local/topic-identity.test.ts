import { describe, expect, it } from 'vitest'
import { sumHeader } from '../../../../src/plugins/storage-local/core/batch-sums.ts'
import { append, makeBatch, newTopicId, readRecords } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, clusterId, codeOf, makeStore } from './store-subjects.ts'

const subject = { settle: <T>(promise: Promise<T>): Promise<T> => promise }
const config = { residentBytes: 1 << 30, reserveBytes: 4096 }
const settings = topicSettings({ segmentBytes: 1000 })
const [other, kept] = [newTopicId(), newTopicId()]
const keptId = { topic: 'kept', topicId: kept, partition: 0 }
const otherId = { topic: 'other', topicId: other, partition: 0 }

async function started(files: MemoryFileSystem, timers = new ManualTimers()) {
  const made = makeStore({ files, timers, config })
  await made.store.start()
  return { ...made, files, timers }
}

type Life = Awaited<ReturnType<typeof started>>

/** Batches of one topic are not those of another. */
async function fill({ store }: Life, id: typeof keptId, count = 6): Promise<void> {
  const log = store.find(id.topicId, 0) ?? store.create(id, settings)
  for (let index = 0; index < count; index++) {
    append(log, makeBatch([{ timestamp: 1000 + log.endOffset, value: `${id.topic} ${log.endOffset}` }]), 0)
    await settled()
  }
  log.raiseHighWatermark(log.endOffset)
}

/** Some records are below the recovery point, and the redo log alone has the rest; the checkpoints know the log, and those of an other topic. */
async function crashed(synced = 6): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const life = await started(files)
  await fill(life, otherId, 12)
  await life.store.flush()
  if (synced > 0) {
    await fill(life, keptId, synced)
    await life.store.flush()
  }
  life.timers.advance(61_000)
  await settled()
  // Names that nothing waits for are on the disk soon, too.
  files.syncDirectory('/data')
  await fill(life, keptId, 6)
  life.timers.advance(6000)
  await settled()
  return files.afterCrash({ keepUnsynced: 'none' })
}

/** As the sums of the segment were to be, up to the crash. */
const sumsOf = (files: MemoryFileSystem, id: typeof keptId, name: string): Uint8Array => bytesOf(files, `/data/${id.topic}-0/${name}`)
const sumNames = (files: MemoryFileSystem, directory: string): string[] => files.list(directory).filter(name => name.endsWith('.sum'))
const put = (files: MemoryFileSystem, path: string, bytes: Uint8Array): void => {
  files.remove(path)
  const file = files.open(path, 'create')
  file.write([bytes], 0)
  file.syncNow()
  file.close()
  files.syncDirectory(path.slice(0, path.lastIndexOf('/')))
}
const metadataPath = '/data/kept-0/partition.metadata'
const metadataOf = (topicId: string): Uint8Array => new TextEncoder().encode(`version: 0\ntopic_id: ${topicId}`)
const doubts = ({ logger }: Life): number => logger.lines.filter(({ level, message }) => level === 'error' && message.includes('of which topic')).length
const valuesOf = async ({ store }: Life, id = keptId): Promise<string[]> => (await readRecords(subject, store.find(id.topicId, 0)!, 0)).map(({ value }) => String(value))
const expected = (count: number): string[] => Array.from({ length: count }, (_, index) => `kept ${index}`)

/** What a power cut may leave of checksums that were not synced. */
const torn: Readonly<Record<string, (files: MemoryFileSystem) => Uint8Array>> = {
  'nothing': () => new Uint8Array(0),
  'zeroes': () => new Uint8Array(200),
  'half a header': () => sumHeader(clusterId, keptId, 0).subarray(0, 20),
  'a header': () => sumHeader(clusterId, keptId, 0),
  'the header of a deleted topic': () => sumHeader(clusterId, otherId, 0),
  'all of those of a deleted topic': files => sumsOf(files, otherId, sumNames(files, '/data/other-0')[0]!),
  'those of a partition with another number': () => sumHeader(clusterId, { ...keptId, partition: 7 }, 0),
  'the header of a deleted topic, and entries of none': files => Uint8Array.from([...sumHeader(clusterId, otherId, 0), ...sumsOf(files, otherId, sumNames(files, '/data/other-0')[0]!).slice(90)]),
}

describe('checksums that a power cut has torn', () => {
  it.each(Object.keys(torn))('into %s do not put a log out of service, nor what the redo log has of it', async what => {
    const files = await crashed(0)
    put(files, '/data/kept-0/00000000000000000000.sum', torn[what]!(files))
    const again = await started(files)
    expect(doubts(again)).toBe(0)
    expect(await valuesOf(again)).toEqual(expected(6))
  })

  it.each(Object.keys(torn))('into %s behind the recovery point do so neither', async what => {
    const files = await crashed()
    put(files, '/data/kept-0/00000000000000000099.sum', torn[what]!(files))
    const again = await started(files)
    expect(doubts(again)).toBe(0)
    expect(await valuesOf(again)).toEqual(expected(12))
  })

  it('into those of a deleted topic with the same batches do so neither', async () => {
    const files = new MemoryFileSystem()
    const life = await started(files)
    const same = async (id: typeof keptId): Promise<void> => {
      const log = life.store.create(id, settings)
      for (let count = 0; count < 5; count++) {
        append(log, makeBatch(1), 0)
        await settled()
      }
      await life.store.flush()
      log.raiseHighWatermark(5)
    }
    await same(otherId)
    life.timers.advance(61_000)
    await settled()
    await same(keptId)
    life.timers.advance(5000)
    await settled()
    // The checksums are written, and their sync does not end.
    const resume = files.stall()
    life.timers.advance(56_000)
    await settled()
    for (const systemDown of [true, false]) {
      const left = files.afterCrash({ keepUnsynced: 'all', systemDown })
      left.damage.overwrite('/data/kept-0/00000000000000000000.sum', 0, sumsOf(files, otherId, '00000000000000000000.sum'))
      expect((await started(left)).store.find(kept, 0)?.endOffset).toBe(5)
    }
    resume()
  })

  it('into those of a deleted topic below the recovery point do so neither, where the batches beside them are not what they say', async () => {
    const files = await crashed()
    for (const name of sumNames(files, '/data/kept-0')) put(files, `/data/kept-0/${name}`, torn['all of those of a deleted topic']!(files))
    const again = await started(files)
    expect(doubts(again)).toBe(0)
    expect(await valuesOf(again)).toEqual(expected(12))
  })
})

/** A directory in the place of another, with the file that says of which topic it is. */
function misplace(files: MemoryFileSystem): void {
  files.remove('/data/kept-0')
  files.makeDirectory('/data/kept-0')
  for (const name of files.list('/data/other-0')) put(files, `/data/kept-0/${name}`, bytesOf(files, `/data/other-0/${name}`))
  put(files, metadataPath, metadataOf(kept))
}

describe('a partition directory of another partition', () => {
  it.each(['stopped', 'killed'] as const)('is not served after the broker was %s, nor begun anew', async ended => {
    const files = await crashed()
    if (ended === 'stopped') {
      const life = await started(files)
      await life.store.stop()
    }
    misplace(files)
    const again = await started(files)
    expect([doubts(again), again.store.find(kept, 0)?.endOffset, again.store.find(other, 0)?.endOffset]).toEqual([1, undefined, 12])
    expect(codeOf(() => again.store.create(keptId, settings))).toBe('MR_LOG_MISSING')
  })

  it('is noticed where it is one of the same topic', async () => {
    const files = new MemoryFileSystem()
    const life = await started(files)
    for (const partition of [0, 1]) {
      append(life.store.create({ ...keptId, partition }, settings), makeBatch([{ timestamp: 1000, value: `of ${partition}` }]), 0)
      await settled()
    }
    await life.store.stop()
    files.rename('/data/kept-0', '/data/away')
    files.rename('/data/kept-1', '/data/kept-0')
    files.rename('/data/away', '/data/kept-1')
    const again = await started(files)
    expect([doubts(again), [...again.store.logs()].length]).toEqual([2, 0])
  })
})

/** What makes it unknown of which topic the directory is. */
const doubtful: Readonly<Record<string, (files: MemoryFileSystem) => void>> = {
  'is gone': files => { files.remove(metadataPath); files.syncDirectory('/data/kept-0') },
  'is cut off': files => { put(files, metadataPath, metadataOf(kept).subarray(0, 25)) },
  'names another topic': files => { put(files, metadataPath, metadataOf(newTopicId())) },
}

describe('what the redo log has of a partition whose partition.metadata', () => {
  for (const synced of [6, 0]) {
    it.each(Object.keys(doubtful))(`%s is kept until that is restored, and is there then, ${synced} records being on the disk without it`, async what => {
      let files = await crashed(synced)
      const before = metadataOf(kept)
      doubtful[what]!(files)
      // Served by others, killed, cut off and stopped in between: nothing of it is given up.
      for (const ended of ['killed', 'cut off', 'stopped', 'cut off'] as const) {
        const life = await started(files)
        expect([doubts(life), life.store.find(kept, 0)?.endOffset]).toEqual([1, undefined])
        expect(codeOf(() => life.store.create(keptId, settings))).toBe('MR_LOG_MISSING')
        await fill(life, otherId, 3)
        if (ended === 'stopped') await life.store.stop()
        files = life.files.afterCrash({ keepUnsynced: ended === 'cut off' ? 'none' : 'all' })
      }
      put(files, metadataPath, before)
      const again = await started(files)
      expect(doubts(again)).toBe(0)
      expect(await valuesOf(again)).toEqual(expected(synced + 6))
      expect((await valuesOf(again, otherId)).length).toBe(24)
      // It is where it belongs, and is not brought back over what comes later.
      again.store.find(kept, 0)!.truncateTo(synced + 2)
      append(again.store.find(kept, 0)!, makeBatch([{ timestamp: 1000, value: 'later' }]), 0)
      await settled()
      await again.store.flush()
      const last = await started(again.files.afterCrash({ keepUnsynced: 'none' }))
      expect(await valuesOf(last)).toEqual([...expected(synced + 2), 'later'])
      expect(last.files.list('/data').filter(name => /redo-kept|stray/.test(name))).toEqual([])
    })
  }

  it('was lost is put where somebody may look at it, once its directory is moved away', async () => {
    const files = await crashed()
    files.remove(metadataPath)
    const life = await started(files)
    const left = life.files.afterCrash({ keepUnsynced: 'none' })
    left.rename('/data/kept-0', '/elsewhere')
    const again = await started(left)
    expect(left.list('/data').filter(name => name.startsWith(`redo-${kept}-0.`) && name.endsWith('-stray'))).toHaveLength(1)
    expect(left.list('/data').filter(name => name.includes('redo-kept'))).toEqual([])
    append(again.store.create(keptId, settings), makeBatch(1), 0)
    await settled()
    await again.store.flush()
    expect((await started(left.afterCrash({ keepUnsynced: 'none' }))).store.find(kept, 0)?.endOffset).toBe(1)
  })

  it('is damaged takes the directory out of service where it is damaged itself', async () => {
    const files = await crashed()
    files.remove(metadataPath)
    const left = (await started(files)).files.afterCrash({ keepUnsynced: 'none' })
    const name = left.list('/data').find(each => each.includes('redo-kept'))!
    left.flipBit(`/data/${name}`, 200, 1)
    expect(await started(left).then(() => 'started', (error: { code?: string }) => error.code)).toBe('MR_LOG_REDO_CORRUPT')
  })

  it.each(['none', 'some', 'all'] as const)('is gone is kept whenever the power is cut, %s of what was not synced being kept', async keep => {
    const begin = await crashed(0)
    begin.remove(metadataPath)
    let calls = 0
    for (let crashAt = 0; ; crashAt++) {
      const files = begin.afterCrash({ keepUnsynced: 'all' })
      let wreck: MemoryFileSystem | undefined
      calls = 0
      files.observe = () => {
        if (calls++ === crashAt) wreck = files.afterCrash({ keepUnsynced: keep === 'some' ? new SeededRandom(crashAt) : keep })
      }
      await started(files)
      if (wreck === undefined) break
      put(wreck, metadataPath, metadataOf(kept))
      expect(await valuesOf(await started(wreck)), `call ${crashAt}`).toEqual(expected(6))
    }
    expect(calls).toBeGreaterThan(50)
  })
})
