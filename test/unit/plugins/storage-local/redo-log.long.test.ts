import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { uuidBytes, type Uuid } from '../../../../src/base/uuid.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { lastOffsetOf, putBaseOffset } from '../../../../src/kernel/record/batch-header.ts'
import { type SyncMode } from '../../../../src/plugins/storage-local/core/sync-pace.ts'
import { RedoLog, type RedoMember } from '../../../../src/plugins/storage-local/redo-log.ts'
import { RedoRecovery } from '../../../../src/plugins/storage-local/redo-recovery.ts'
import { makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { LinesLogger } from './store-subjects.ts'

const directoryId = Uint8Array.from(uuidBytes(newTopicId()))
const fileBytes = 64 * 1024

/** A log of which nothing but what it gives to the redo log is kept. */
class Member implements RedoMember {
  readonly topicId: Uuid = newTopicId()
  readonly topicIdBytes = Uint8Array.from(uuidBytes(this.topicId))
  readonly partition: number
  groupStart = -1
  groupEnd = -1
  underwayStart = -1
  underwayEnd = -1
  end = 0
  promised = 0
  settled = 0
  position = 0
  readonly batches: Uint8Array[] = []

  constructor(partition: number) { this.partition = partition }

  recoveryPoint(): number { return this.settled }

  redone(_start: number, end: number): void { this.promised = Math.max(this.promised, end) }

  /** Synced where it belongs, at once. */
  refused(): void { this.settled = this.promised = this.end }

  append(redo: RedoLog, records = 1): boolean {
    const bytes = makeBatch(records)
    putBaseOffset(bytes, 0, this.end)
    const logEnd = this.end
    this.end = lastOffsetOf(bytes, 0) + 1
    this.batches.push(bytes)
    this.position += bytes.length
    if (redo.append(this, { bytes, at: 0, length: bytes.length, logEnd, segmentBase: 0, position: this.position - bytes.length }, this.end)) return true
    this.refused()
    return false
  }
}

interface Bench {
  readonly files: MemoryFileSystem
  readonly redo: RedoLog
  readonly failures: unknown[]
  readonly timers: ManualTimers
  settle(): Promise<void>
}

function bench({ bytesMax = 4 * fileBytes, syncMode = 'pooled' as SyncMode, files = new MemoryFileSystem(), settles = true, settled = (done: () => void): void => { queueMicrotask(done) }, stuck = new Set<RedoMember>(), run = 1 } = {}): Bench {
  files.makeDirectory('/data')
  files.syncDirectory('/')
  const timers = new ManualTimers()
  const failures: unknown[] = []
  const redo = new RedoLog({ files, timers: { after: (ms, callback) => timers.after(ms, callback), soon: queueMicrotask }, clock: timers.clock, logger: new LinesLogger() }, '/data', {
    directoryId, run, fileBytes, bytesMax, groupBytesMax: fileBytes / 4, syncMode,
    failed: error => { failures.push(error) },
    settle: (logs, done) => {
      if (!settles) return
      for (const log of logs as Member[]) if (!stuck.has(log)) log.settled = log.end
      settled(() => done(undefined))
    },
  })
  return { files, redo, failures, timers, settle: async () => { for (let turn = 0; turn < 40; turn++) await Promise.resolve() } }
}

/** What a start would find of a member: the end of the last batch, and the batches themselves by their offsets. */
function found(files: MemoryFileSystem, member: Member, settled = member.settled): { readonly offsets: number[], readonly durableTo: number, readonly removed: boolean } {
  const recovery = new RedoRecovery(files, new LinesLogger(), '/data')
  recovery.read(directoryId)
  const plan = recovery.take(member.topicId, member.partition, { recoveryPoint: settled, startOffset: 0 })
  for (const batch of plan?.batches ?? []) {
    if (batch.kind === 'batch') expect(member.batches.some(bytes => bytes.length === batch.bytes.length && bytes.every((byte, index) => byte === batch.bytes[index]))).toBe(true)
  }
  return { offsets: plan?.batches.map(batch => batch.offset) ?? [], durableTo: Math.max(plan?.durableTo ?? 0, settled), removed: plan?.removed ?? false }
}

/** A file has to be made before there is room. */
async function ready(made: Bench): Promise<void> {
  expect(new Member(9).append(made.redo)).toBe(false)
  await made.settle()
}

describe('the redo log', () => {
  it.each(['pooled', 'inline', 'adaptive'] as const)('promises what a power cut cannot take, %s', async syncMode => {
    const made = bench({ syncMode })
    await ready(made)
    const members = [new Member(0), new Member(1)]
    for (let round = 0; round < 20; round++) {
      for (const member of members) expect(member.append(made.redo, 3)).toBe(true)
      await made.settle()
      expect(members.map(({ promised }) => promised)).toEqual([3 * (round + 1), 3 * (round + 1)])
    }
    const crashed = made.files.afterCrash({ keepUnsynced: 'none' })
    for (const member of members) expect(found(crashed, member)).toMatchObject({ durableTo: 60 })
  })

  it('syncs once for all logs, and once for what came while a sync was under way', async () => {
    const made = bench()
    await ready(made)
    const syncs: string[] = []
    made.files.observe = ({ kind, path }) => { if (kind === 'sync' && path === made.redo.ring.current?.file.path) syncs.push(path) }
    const members = Array.from({ length: 64 }, (_, index) => new Member(index))
    for (const member of members) member.append(made.redo)
    await Promise.resolve()
    for (const member of members) member.append(made.redo)
    for (const member of members) member.append(made.redo)
    await made.settle()
    expect(members.every(({ promised }) => promised === 3)).toBe(true)
    expect(syncs.length).toBe(2)
  })

  it('has no room before its first file is made, for what is too large, and when all files are full and needed', async () => {
    const made = bench({ bytesMax: 2 * fileBytes, settles: false })
    await ready(made)
    const member = new Member(0)
    expect(member.append(made.redo, 5000)).toBe(false)
    let appended = 0
    while (appended < 10_000 && member.append(made.redo, 20)) {
      appended++
      await made.settle()
    }
    expect(appended).toBeGreaterThan(50)
    expect(appended).toBeLessThan(10_000)
    expect(made.redo.ring.full.length).toBe(1)
    expect(made.failures).toEqual([])
  })

  it('goes on for ever in a few files, as long as what they hold is settled', async () => {
    const made = bench()
    await ready(made)
    const member = new Member(0)
    for (let round = 0; round < 2000; round++) {
      expect(member.append(made.redo, 20), `round ${round}`).toBe(true)
      await made.settle()
      if (round % 50 === 0) expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), member).durableTo).toBe(member.end)
    }
    expect(made.redo.counts.reclaimed).toBeGreaterThan(5)
    expect(made.files.list('/data/__millrace_redo').length).toBeLessThanOrEqual(4)
  })

  it('frees no file behind one that is still needed: what was on the disk has no hole', async () => {
    const [left, member] = [new Member(0), new Member(1)]
    const made = bench({ stuck: new Set([left]) })
    await ready(made)
    expect(left.append(made.redo)).toBe(true)
    for (let round = 0; round < 1000; round++) {
      member.append(made.redo, 20)
      await made.settle()
      if (round % 20 === 0) expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), left).durableTo, `round ${round}`).toBe(1)
    }
    expect(made.redo.counts.reclaimed).toBe(0)
    left.settled = left.end
    made.timers.advance(1000)
    for (let round = 0; round < 1000; round++) {
      member.append(made.redo, 20)
      await made.settle()
    }
    expect(made.redo.counts.reclaimed).toBeGreaterThan(5)
  })

  it('is used again after all of its files were full before the oldest was settled', async () => {
    const settling: (() => void)[] = []
    const made = bench({ settled: done => { settling.push(done) } })
    await ready(made)
    const member = new Member(0)
    for (let round = 0; round < 1000; round++) {
      member.append(made.redo, 20)
      await made.settle()
    }
    expect(settling.length).toBe(1)
    expect(member.append(made.redo, 20)).toBe(false)
    settling[0]!()
    await made.settle()
    expect(member.append(made.redo, 20)).toBe(true)
    await made.settle()
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), member).durableTo).toBe(member.end)
  })

  it('keeps no log from being removed when it is full, and is used again then', async () => {
    const settling: (() => void)[] = []
    const made = bench({ settled: done => { settling.push(done) } })
    await ready(made)
    const [member, removed] = [new Member(0), Array.from({ length: 60 }, (_, index) => new Member(index + 1))]
    for (const log of removed) expect(log.append(made.redo)).toBe(true)
    for (let round = 0; round < 500; round++) {
      member.append(made.redo, 20)
      await made.settle()
    }
    for (const log of removed) made.redo.removed(log)
    settling[0]!()
    await made.settle()
    expect(member.append(made.redo, 20)).toBe(true)
    await made.settle()
    expect(made.failures).toEqual([])
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), member).durableTo).toBe(member.end)
  })

  it('waits for no log that was cut back to where it is on the disk', async () => {
    const [cut, member] = [new Member(0), new Member(1)]
    const made = bench({ stuck: new Set([cut]) })
    await ready(made)
    cut.append(made.redo, 5)
    await made.settle()
    made.redo.reset(cut, 0)
    for (let round = 0; round < 1000; round++) {
      member.append(made.redo, 20)
      await made.settle()
    }
    expect(made.redo.counts.reclaimed).toBeGreaterThan(5)
  })

  it('forgets what was cut, durably, and answers no append that was cut', async () => {
    const made = bench()
    await ready(made)
    const [cut, other] = [new Member(0), new Member(1)]
    cut.append(made.redo, 5)
    await made.settle()
    cut.append(made.redo, 5)
    other.append(made.redo, 5)
    made.redo.reset(cut, 5)
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), cut)).toMatchObject({ offsets: [0], durableTo: 5 })
    await made.settle()
    expect([cut.promised, other.promised]).toEqual([5, 5])
  })

  it('knows of a removal, durably, and syncs nothing for a log that it has nothing of', async () => {
    const made = bench()
    await ready(made)
    const [removed, unknown] = [new Member(0), new Member(1)]
    removed.append(made.redo)
    await made.settle()
    made.redo.removed(removed)
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), removed).removed).toBe(true)
    const { groups } = made.redo.counts
    made.redo.removed(unknown)
    made.redo.reset(unknown, 0)
    expect(made.redo.counts.groups).toBe(groups)
  })

  it('has what it says durably on the disk also when the group before it is under way in another file', async () => {
    const made = bench()
    await ready(made)
    const [cut, filler] = [new Member(0), new Member(1)]
    cut.append(made.redo, 5)
    const first = made.redo.ring.current
    await made.settle()
    // Until the next group, and not the one after it, has room in the first file.
    while (made.redo.ring.current!.position < 40 * 1024) {
      filler.append(made.redo, 20)
      await made.settle()
    }
    filler.append(made.redo, 20)
    await Promise.resolve()
    while (made.redo.ring.current === first) expect(filler.append(made.redo, 40)).toBe(true)
    made.redo.reset(cut, 0)
    expect(made.redo.ring.current).not.toBe(first)
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), cut)).toMatchObject({ offsets: [], durableTo: 0 })
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), filler).durableTo).toBeGreaterThanOrEqual(filler.promised)
    await made.settle()
    expect(filler.promised).toBe(filler.end)
  })

  it('answers in order when an entry is written while a group is under way', async () => {
    const made = bench()
    await ready(made)
    const [first, second, cut] = [new Member(0), new Member(1), new Member(2)]
    cut.append(made.redo)
    await made.settle()
    first.append(made.redo)
    await Promise.resolve()
    first.append(made.redo)
    second.append(made.redo)
    made.redo.reset(cut, 0)
    await made.settle()
    expect([first.promised, second.promised]).toEqual([2, 1])
  })

  it('answers what follows a batch that went another way while the group at hand waited', async () => {
    const made = bench()
    await ready(made)
    const [first, member] = [new Member(0), new Member(1)]
    first.append(made.redo)
    await Promise.resolve()
    // The group of the first is under way. Of the second one batch waits, the next one is synced in its segment, and one more comes.
    member.append(made.redo, 2)
    member.end += 5
    member.settled = member.end
    member.append(made.redo, 3)
    expect([member.groupStart, member.groupEnd]).toEqual([7, 10])
    await made.settle()
    expect(member.promised).toBe(10)
  })

  it('knows a log of which the last batch is in a file that leaves: what is cut then stays cut', async () => {
    const made = bench()
    await ready(made)
    const [cut, member] = [new Member(0), new Member(1)]
    cut.append(made.redo, 5)
    await made.settle()
    while (made.redo.counts.reclaimed === 0) {
      member.append(made.redo, 20)
      await made.settle()
    }
    // No group was written since: the last one on the disk still says that all are needed.
    made.redo.reset(cut, 0)
    expect(found(made.files.afterCrash({ keepUnsynced: 'none' }), cut, 0)).toMatchObject({ offsets: [], durableTo: 0 })
  })

  it('answers nothing after a sync failed, and is never synced again', async () => {
    const made = bench()
    await ready(made)
    const member = new Member(0)
    member.append(made.redo)
    await made.settle()
    made.files.faults.add({ operation: 'sync', error: 'EIO', times: 1 })
    member.append(made.redo)
    await made.settle()
    expect(member.promised).toBe(1)
    expect(made.failures.length).toBe(1)
    const calls: string[] = []
    made.files.observe = ({ kind }) => { calls.push(kind) }
    expect(member.append(made.redo)).toBe(false)
    await made.settle()
    expect(calls).toEqual([])
  })

  it.each([1, 2])('keeps its promises through a crash at every call, seed %i', async seed => {
    for (let crashAt = 0; ; crashAt++) {
      const random = new Prng(seed)
      const files = new MemoryFileSystem()
      const made = bench({ files, bytesMax: 3 * fileBytes, syncMode: seed % 2 === 0 ? 'pooled' : 'inline' })
      const members = [new Member(0), new Member(1), new Member(2)]
      let calls = 0
      let left: readonly MemoryFileSystem[] | undefined
      let at: { readonly promised: number, readonly settled: number }[] = []
      files.observe = () => {
        if (calls++ !== crashAt) return
        at = members.map(({ promised, settled }) => ({ promised, settled }))
        left = [files.afterCrash({ keepUnsynced: 'none' }), files.afterCrash({ keepUnsynced: 'all' }), files.afterCrash({ keepUnsynced: new SeededRandom(seed + crashAt) })]
      }
      for (let step = 0; step < 60 && left === undefined; step++) {
        const member = random.pick(members)
        if (random.chance(0.9)) for (let count = random.between(1, 4); count > 0; count--) member.append(made.redo, random.between(1, 60))
        for (let turn = random.below(12); turn > 0; turn--) await Promise.resolve()
      }
      if (left === undefined) break
      for (const [index, image] of left.entries()) {
        for (const [which, member] of members.entries()) {
          const context = `seed ${seed}, call ${crashAt}, image ${index}, log ${which}`
          expect(found(image, member, at[which]!.settled).durableTo, context).toBeGreaterThanOrEqual(at[which]!.promised)
        }
      }
    }
  })
})

describe('a redo log that lost a group', () => {
  it('is refused when the group was on the disk, and says where', async () => {
    const made = bench()
    await ready(made)
    const member = new Member(0)
    for (let count = 0; count < 4; count++) {
      member.append(made.redo)
      await made.settle()
    }
    const [name] = made.files.list('/data/__millrace_redo')
    const file = made.files.open(`/data/__millrace_redo/${name}`, 'update')
    file.write([Uint8Array.of(0xff)], 512 + 100)
    const recovery = new RedoRecovery(made.files, new LinesLogger(), '/data')
    let thrown: unknown
    try {
      recovery.read(directoryId)
    } catch (error) {
      thrown = error
    }
    expect(isMillraceError(thrown, 'MR_LOG_REDO_CORRUPT')).toBe(true)
    expect(String(thrown)).toContain('/data/__millrace_redo')
  })

  it('is refused when the file that is written was cut off or taken away, or is of an older run', async () => {
    const fill = async (files = new MemoryFileSystem(), run = 1): Promise<MemoryFileSystem> => {
      const made = bench({ files, run })
      await ready(made)
      const member = new Member(0)
      while (made.redo.ring.full.length === 0) {
        member.append(made.redo, 20)
        await made.settle()
      }
      return files
    }
    const recover = (files: MemoryFileSystem) => () => { new RedoRecovery(files, new LinesLogger(), '/data').read(directoryId) }
    const files = await fill()
    expect(recover(files)).not.toThrow()
    const cut = files.open('/data/__millrace_redo/00000002.redo', 'update')
    const bytesBefore = cut.size()
    cut.truncate(bytesBefore - 512)
    expect(recover(files)).toThrow(/00000002.redo was cut off/)
    cut.write([new Uint8Array(512)], bytesBefore - 512)
    expect(recover(files)).not.toThrow()
    files.remove('/data/__millrace_redo/00000002.redo')
    expect(recover(files)).toThrow(/00000002.redo is missing/)
    const [older, newer] = [await fill(), await fill(undefined, 2)]
    const from = older.open('/data/__millrace_redo/00000001.redo', 'read')
    const bytes = new Uint8Array(from.size())
    from.read(bytes, 0, bytes.length, 0)
    newer.open('/data/__millrace_redo/00000001.redo', 'update').write([bytes], 0)
    expect(recover(newer)).toThrow(/two runs/)
  })
})
