import { describe, expect, it, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { batchBytesOf } from '../../../../src/kernel/record/batch-header.ts'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { bytesOf, makeStore } from './store-subjects.ts'

const topicId = newTopicId()
const directory = '/data/living-0'
const lifePath = '/data/.millrace-cache-life'
const config = { residentBytes: 1 << 30, reserveBytes: 4096, redoBytesMax: 0 }
const settings = topicSettings({ segmentBytes: 6000, indexIntervalBytes: 100, durability: 'os' })

async function started(files: MemoryFileSystem) {
  const made = makeStore({ files, timers: new ManualTimers(), config })
  await made.store.start()
  const checks = made.logger.lines.find(({ message }) => message.startsWith('the last stop was not clean'))?.fields['checks']
  return { ...made, log: made.store.find(topicId, 0)!, checks, warnings: made.logger.lines.filter(({ level }) => level !== 'info') }
}

/** A life of batches of all sizes, some of idempotent producers, with two epochs and a truncation. */
async function lived(seed: number, batches = 60): Promise<MemoryFileSystem> {
  const prng = new Prng(seed)
  const files = new MemoryFileSystem()
  const { store } = await started(files)
  const log = store.create({ topic: 'living', topicId, partition: 0 }, settings)
  const sequences = [0, 0, 0]
  for (let index = 0; index < batches; index++) {
    const producer = prng.below(4)
    const records = Array.from({ length: 1 + prng.below(4) }, () => ({ timestamp: 1000 + prng.below(500), value: 'x'.repeat(prng.below(prng.chance(0.1) ? 3000 : 60)) }))
    const leaderEpoch = index < batches / 2 ? 1 : 2
    if (producer === 3) append(log, makeBatch(records), leaderEpoch)
    else append(log, makeBatch(records, { producerId: 10 + producer, producerEpoch: 0, baseSequence: sequences[producer]! }), leaderEpoch)
    if (producer < 3) sequences[producer]! += records.length
  }
  return files.afterCrash({ keepUnsynced: 'all' })
}

/** All that a start makes of the log, in its files. */
function filesOf(files: MemoryFileSystem): Record<string, string> {
  const paths = [...files.list(directory).map(name => `${directory}/${name}`), '/data/recovery-point-offset-checkpoint', '/data/log-start-offset-checkpoint']
  return Object.fromEntries(paths.map(path => [path, Buffer.from(bytesOf(files, path)).toString('base64')]))
}

const lastSegment = (files: MemoryFileSystem): string => `${directory}/${files.list(directory).filter(name => name.endsWith('.log')).at(-1)!}`

describe('a start after a kill', () => {
  it.each([1, 2, 3, 4, 5])('that relies on the page cache finds all that one which makes every checksum finds, seed %i', async seed => {
    const killed = await lived(seed)
    const checked = killed.afterCrash({ keepUnsynced: 'all', systemDown: true })
    const [quick, full] = [await started(killed), await started(checked)]
    expect(quick.checks).toMatch(/^structure/)
    expect(full.checks).toBe('checksums')
    expect(quick.warnings).toEqual([])
    expect([quick.log.endOffset, quick.log.startOffset]).toEqual([full.log.endOffset, full.log.startOffset])
    expect(filesOf(killed)).toEqual(filesOf(checked))
  })

  it('makes the checksum of no batch but the last of each segment', async () => {
    const killed = await lived(1)
    killed.flipBit(`${directory}/00000000000000000000.log`, 70, 2)
    const end = (await started(killed.afterCrash({ keepUnsynced: 'all' }))).log.endOffset
    const found = await started(killed.afterCrash({ keepUnsynced: 'all', systemDown: true }))
    expect(found.log.endOffset).toBeLessThan(end)
    expect(found.warnings).toHaveLength(1)
  })

  test('of which the last write was cut off anywhere ends the log before it, as one after a power cut does', async () => {
    const killed = await lived(2)
    const path = lastSegment(killed)
    const bytes = bytesOf(killed, path)
    let at = 0
    while (at + batchBytesOf(bytes, at) < bytes.length) at += batchBytesOf(bytes, at)
    for (let left = at + 1; left < bytes.length; left += 7) {
      const cut = killed.afterCrash({ keepUnsynced: 'all' })
      cut.open(path, 'update').truncate(left)
      const checked = cut.afterCrash({ keepUnsynced: 'all', systemDown: true })
      const [quick, full] = [await started(cut), await started(checked)]
      expect(quick.checks, `${left} bytes`).toMatch(/^structure/)
      expect(quick.log.endOffset, `${left} bytes`).toBe(full.log.endOffset)
      expect(filesOf(cut), `${left} bytes`).toEqual(filesOf(checked))
    }
  })

  test.each([0, -1])('sees a bit that is not what it was in the last batch of a segment, be it closed or active (segment at %i)', async which => {
    const killed = await lived(1)
    const name = killed.list(directory).filter(each => each.endsWith('.log')).at(which)!
    killed.flipBit(`${directory}/${name}`, bytesOf(killed, `${directory}/${name}`).length - 3, 2)
    const checked = killed.afterCrash({ keepUnsynced: 'all', systemDown: true })
    const [quick, full] = [await started(killed), await started(checked)]
    expect(quick.checks).toMatch(/^structure/)
    expect(quick.warnings.length).toBeGreaterThan(0)
    expect(quick.log.endOffset).toBe(full.log.endOffset)
  })

  test('that finds one thing wrong makes every checksum of that log', async () => {
    const killed = await lived(3)
    const path = lastSegment(killed)
    const bytes = bytesOf(killed, path)
    killed.flipBit(path, 70, 2)
    // The length of a batch behind.
    killed.flipBit(path, batchBytesOf(bytes, 0) + 8, 6)
    const checked = killed.afterCrash({ keepUnsynced: 'all', systemDown: true })
    const [quick, full] = [await started(killed), await started(checked)]
    expect(quick.checks).toMatch(/^structure/)
    expect(quick.log.endOffset).toBe(Number(path.slice(-24, -4)))
    expect(quick.log.endOffset).toBe(full.log.endOffset)
  })
})

describe('every checksum is made', () => {
  it.each<[string, (files: MemoryFileSystem) => MemoryFileSystem | Promise<MemoryFileSystem>]>([
    ['after a power cut that took nothing', files => files.afterCrash({ keepUnsynced: 'all', systemDown: true })],
    ['where the file is missing', files => {
      files.remove(lifePath)
      return files
    }],
    ['where the file is a copy', files => {
      const bytes = bytesOf(files, lifePath)
      files.remove(lifePath)
      files.open(lifePath, 'create').write([bytes], 0)
      return files
    }],
    ['where the file was cut off', files => {
      files.open(lifePath, 'update').truncate(20)
      return files
    }],
    ['where a directory has its name', files => {
      files.remove(lifePath)
      files.makeDirectory(lifePath)
      return files
    }],
    ['where the life of the page cache has no name', files => Object.assign(files, { cacheLife: () => undefined })],
    ['after a start that was killed under way', async files => {
      const down = files.afterCrash({ keepUnsynced: 'all', systemDown: true })
      let found: MemoryFileSystem | undefined
      down.observe = ({ kind, path }) => {
        if (kind === 'sync' && path.endsWith('.log')) found ??= down.afterCrash({ keepUnsynced: 'all' })
      }
      await started(down)
      expect(found).toBeDefined()
      return found!
    }],
    ['after a sync that failed', async files => {
      const { store, log } = await started(files)
      files.faults.add({ operation: 'sync', path: /\.log$/, error: 'EIO', times: 1 })
      append(log, makeBatch(1), 2)
      await store.flush().catch(() => {})
      expect(store.directories()[0]!.offline).toBeDefined()
      return files.afterCrash({ keepUnsynced: 'all' })
    }],
  ])('%s', async (_name, then) => {
    const files = await then(await lived(4))
    expect((await started(files)).checks).toBe('checksums')
  })

  test('at every start while a log is damaged', async () => {
    const killed = await lived(5)
    await started(killed)
    let files = killed.afterCrash({ keepUnsynced: 'all', systemDown: true })
    files.flipBit(lastSegment(files), bytesOf(files, lastSegment(files)).length - 5, 2)
    for (let round = 1; round <= 3; round++) {
      const { checks, log } = await started(files)
      expect(checks, `start ${round}`).toBe('checksums')
      expect(() => log.truncateTo(0), `start ${round}`).toThrow(expect.objectContaining({ code: 'MR_LOG_CORRUPT' }))
      files = files.afterCrash({ keepUnsynced: 'all' })
    }
  })
})

describe('a directory that fails', () => {
  const failed = async (files: MemoryFileSystem, broken: 'write' | 'any') => {
    const { store, log, logger } = await started(files)
    files.faults.add({ operation: 'sync', path: /\.log$/, error: 'EIO', times: 1 })
    files.faults.add({ operation: broken, path: lifePath, error: 'EIO' })
    append(log, makeBatch(1), 2)
    await store.flush().catch(() => {})
    expect(store.directories()[0]!.offline).toBeDefined()
    return logger
  }

  test('and cannot say so in the file loses the file', async () => {
    const files = await lived(4)
    await failed(files, 'write')
    expect((await started(files.afterCrash({ keepUnsynced: 'all' }))).checks).toBe('checksums')
  })

  test('and cannot lose the file either tells whoever reads the log to remove it', async () => {
    const logger = await failed(await lived(4), 'any')
    expect(logger.lines.filter(({ level, message }) => level === 'error' && message.includes('remove the file before it'))).toHaveLength(1)
  })
})

test('a lock that is no store any more is refused with what to do, and the directory serves when that was done', async () => {
  const files = new MemoryFileSystem()
  const broken = new MillraceError('MR_FILE_FAILED', { operation: 'open', path: '/data/.lock', reason: 'it has no CURRENT' })
  const engine = new VolatileKeyValueEngine()
  const { store } = makeStore({ files, timers: new ManualTimers(), config, engine: { takesSpace: false, open: () => Promise.reject(broken) } })
  await expect(store.start()).rejects.toMatchObject({ code: 'MR_FILE_FAILED', message: expect.stringMatching(/lock \/data\/\.lock: it has no CURRENT; when no broker runs on the directory, remove this one/) })
  const healed = makeStore({ files, timers: new ManualTimers(), config, engine })
  await healed.store.start()
  expect(healed.store.directories()[0]!.offline).toBeUndefined()
})

