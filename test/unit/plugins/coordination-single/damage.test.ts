import { describe, expect, it } from 'vitest'
import { decodeEntry, emptyLog } from '../../../../src/kernel/consensus-log/log-entry.ts'
import { decodeHardState, encodeHardState, entryKey, hardStateKey, pointerKey, type HardState } from '../../../../src/kernel/consensus-log/store-layout.ts'
import { encodeWitness, encodeWitnessSlot, readWitness, witnessBlockBytes, witnessBytes, witnessSlotAt, witnessSlotBytes } from '../../../../src/kernel/consensus-log/witness.ts'
import { isMillraceError, MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type KeyValueEngine, type KeyValueStore } from '../../../../src/kernel/ports/key-value-store.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { LogKeyValueEngine } from '../../../../src/testkit/world/log-key-value-engine.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { CrashDisk } from './crash-key-value.ts'
import { clusterId, voterWorld } from './voter-world.ts'

const options = { nodeId: 1, clusterId, path: '/meta', snapshotEntries: 100, snapshotBytes: 1 << 20, reserveBytes: 0 }
const witnessPath = '/meta/witness.dat'
const fatalErrors: unknown[] = []
const fatal = { fatal: (error: unknown) => { fatalErrors.push(error) } }

async function openOn(engine: KeyValueEngine, files: MemoryFileSystem, changed: Partial<typeof options> = {}) {
  const voter = new SingleVoter({ ...options, ...changed }, voterWorld(engine, fatal, files))
  const machine = new NotedMachine()
  await voter.start()
  await voter.open(machine)
  return { voter, machine }
}

const open = (files: MemoryFileSystem, changed: Partial<typeof options> = {}) => openOn(new LogKeyValueEngine(files), files, changed)

/** A disk on which so many commands were acknowledged. */
async function written(count: number, changed: Partial<typeof options> = {}): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { voter } = await open(files, changed)
  for (let index = 0; index < count; index++) await voter.append([Uint8Array.of(index)])
  await voter.stop()
  return files
}

async function refusal(files: MemoryFileSystem, changed: Partial<typeof options> = {}): Promise<MillraceError> {
  try {
    await open(files, changed)
  } catch (error) {
    if (isMillraceError(error)) return error
    throw error
  }
  throw new Error('it was opened')
}

/** Changes what is in the store, as damage that the store itself does not see. */
async function edit(files: MemoryFileSystem, change: (store: KeyValueStore) => Promise<void>): Promise<void> {
  const store = await new LogKeyValueEngine(files).open('/meta/log')
  await change(store)
  await store.close()
}

const remove = (files: MemoryFileSystem, ...keys: readonly Uint8Array[]) =>
  edit(files, (store) => store.write(keys.map((key) => ({ key, value: undefined })), { sync: true }))

const replace = (files: MemoryFileSystem, key: Uint8Array, change: (bytes: Uint8Array) => void) => edit(files, async (store) => {
  const value = (await store.get(key))!
  change(value)
  await store.write([{ key, value }], { sync: true })
})

const changeState = (files: MemoryFileSystem, change: (state: HardState) => HardState) => edit(files, async (store) => {
  const state = decodeHardState((await store.get(hardStateKey))!) as HardState
  await store.write([{ key: hardStateKey, value: encodeHardState(change(state)) }], { sync: true })
})

function bytesOf(files: MemoryFileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return bytes
}

function overwrite(files: MemoryFileSystem, path: string, bytes: Uint8Array, position = 0): void {
  const file = files.open(path, 'update')
  file.write([bytes], position)
  file.close()
}

/** The store as it was, under the witness of now: its newest writes are lost. */
async function withOlderStore(count: number, later: number): Promise<MemoryFileSystem> {
  const files = await written(count)
  const { voter } = await open(files)
  const before = bytesOf(files, '/meta/log/store.log')
  for (let index = 0; index < later; index++) await voter.append([Uint8Array.of(100 + index)])
  await voter.stop()
  const file = files.open('/meta/log/store.log', 'update')
  file.truncate(before.length)
  file.close()
  return files
}

const newest = (files: MemoryFileSystem): HardState => readWitness(bytesOf(files, witnessPath)).newest!
const zeros = (bytes: number): Uint8Array => new Uint8Array(bytes)
const slotOf = (files: MemoryFileSystem, which: 'newest' | 'older'): number => witnessSlotAt(newest(files).sequence + (which === 'newest' ? 0 : 1))

describe('a start refuses', () => {
  it('a log with a hole, naming the index', async () => {
    const files = await written(6)
    await remove(files, entryKey(3))
    expect(await refusal(files)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 3, path: '/meta' } })
  })

  it('a log that lost its end or has more than it should by its own account, though each is whole', async () => {
    const short = await written(6)
    await remove(short, entryKey(5), entryKey(6))
    expect(await refusal(short)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 5 } })
    const long = await written(6)
    await changeState(long, (state) => ({ ...state, last: { ...state.last, index: 5 } }))
    expect(await refusal(long)).toMatchObject({ details: { index: 6, reason: expect.stringContaining('an entry that was removed is back') } })
  })

  it('a store whose newest writes are all lost without a trace, with the way out', async () => {
    for (let later = 1; later <= 3; later++) {
      const error = await refusal(await withOlderStore(4, later))
      expect(error).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 5 } })
      expect(error.message).toContain(`entries up to ${4 + later} were acknowledged, and it ends at 4`)
      expect(error.message).toContain('millrace cluster recover')
    }
  })

  it('a store that lost a term, or says that the vote in it went elsewhere', async () => {
    const term = await withOlderStore(4, 0)
    const before = newest(term)
    await changeState(term, (state) => ({ ...state, sequence: before.sequence - 1, term: before.term - 1 }))
    expect(await refusal(term)).toMatchObject({ details: { reason: `term ${before.term} was reached, and the store is in ${before.term - 1}` } })
    for (const ahead of [0, 1]) {
      const vote = await written(2)
      await changeState(vote, (state) => ({ ...state, sequence: state.sequence + ahead, vote: 7 }))
      expect((await refusal(vote)).details['reason']).toMatch(/vote in term/)
    }
  })

  it('an entry with any bit changed', async () => {
    const pristine = await written(4)
    let bits = 0
    await edit(pristine, async (store) => { bits = (await store.get(entryKey(2)))!.length * 8 })
    for (let bit = 0; bit < bits; bit++) {
      const files = pristine.afterCrash({ keepUnsynced: 'all' })
      await replace(files, entryKey(2), (bytes) => { bytes[bit >>> 3]! ^= 1 << (bit & 7) })
      expect(await refusal(files), `bit ${bit}`).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 2 } })
    }
  })

  it('entries swapped', async () => {
    const files = await written(4)
    await edit(files, async (store) => {
      const [second, third] = [(await store.get(entryKey(2)))!, (await store.get(entryKey(3)))!]
      await store.write([{ key: entryKey(2), value: third }, { key: entryKey(3), value: second }], { sync: true })
    })
    expect(await refusal(files)).toMatchObject({ details: { index: 2 } })
  })

  it('the witness of another directory, though its log is as long', async () => {
    const [files, other] = [await written(4), await written(4)]
    const foreign = { ...newest(other), directoryId: 'mKYwH6x0QDuRL3bZ1OyCmA' }
    overwrite(files, witnessPath, encodeWitness(foreign))
    expect((await refusal(files)).details['reason']).toMatch(/^the witness is of directory mKYwH6x0QDuRL3bZ1OyCmA, the store of /)
  })

  it('a witness that is gone, of a wrong size, unreadable, or far behind the store', async () => {
    const gone = await written(4)
    gone.remove(witnessPath)
    expect((await refusal(gone)).details['reason']).toMatch(/is gone/)
    const cut = await written(4)
    const file = cut.open(witnessPath, 'update')
    file.truncate(witnessBytes - 1)
    file.close()
    expect((await refusal(cut)).details['reason']).toContain(`it has ${witnessBytes - 1} bytes in place of ${witnessBytes}`)
    const bad = await written(4)
    overwrite(bad, witnessPath, zeros(witnessBytes))
    expect((await refusal(bad)).details['reason']).toContain('neither of its two slots can be read')
    const stale = await written(4)
    const before = bytesOf(stale, witnessPath)
    const { voter } = await open(stale)
    await voter.append([Uint8Array.of(9)])
    await voter.stop()
    overwrite(stale, witnessPath, before)
    expect((await refusal(stale)).details['reason']).toMatch(/the witness ends 2 writes before the store/)
  })

  it('a whole store that is gone while its witness is there, and makes none in its place', async () => {
    const files = await written(4)
    files.remove('/meta/log')
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await refusal(files)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 1 } })
      expect(files.stat('/meta/log')).toBeUndefined()
    }
  })

  it('a store that cannot be opened or read, with the way out', async () => {
    const files = await written(4)
    const real = new LogKeyValueEngine(files)
    const broken = new MillraceError('MR_FILE_FAILED', { operation: 'open', path: '/meta/log', reason: 'CURRENT points to a missing file' })
    const engines: KeyValueEngine[] = [
      { takesSpace: true, open: () => Promise.reject(broken) },
      {
        takesSpace: true,
        open: async (path, how) => {
          const store = await real.open(path, how)
          return { get: (key) => store.get(key), write: (puts, sync) => store.write(puts, sync), close: () => store.close(), range: () => Promise.reject(broken) }
        },
      },
    ]
    for (const engine of engines) {
      const error = await openOn(engine, files).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'MR_CLUSTER_METADATA_UNREADABLE', details: { path: '/meta', reason: 'CURRENT points to a missing file' } })
      expect((error as Error).message).toContain('millrace cluster recover')
    }
  })

  it('a snapshot that was changed or lost a piece', async () => {
    for (const damage of ['change', 'delete'] as const) {
      const files = await written(6, { snapshotEntries: 5 })
      await edit(files, async (store) => {
        const [[key, value] = []] = await store.range({ from: Uint8Array.of(0x73), to: Uint8Array.of(0x74) })
        value![0]! ^= 1
        await store.write([{ key: key!, value: damage === 'delete' ? undefined : value }], { sync: true })
      })
      expect(await refusal(files)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 5, reason: 'the snapshot fails its checksum' } })
    }
  })

  it('a snapshot pointer or hard state that was changed or is gone', async () => {
    for (const key of [pointerKey, hardStateKey]) {
      for (const at of [0, 2]) {
        const files = await written(6, { snapshotEntries: 5 })
        await replace(files, key, (bytes) => { bytes[at]! ^= 2 })
        expect((await refusal(files)).code).toBe('MR_CLUSTER_METADATA_CORRUPT')
      }
      const files = await written(6, { snapshotEntries: 2 })
      await remove(files, key)
      expect((await refusal(files)).code).toBe('MR_CLUSTER_METADATA_CORRUPT')
    }
  })

  it('what a newer release has written, by that name', async () => {
    const files = await written(2)
    const { crc32c } = await import('../../../../src/base/crc32c.ts')
    await replace(files, hardStateKey, (bytes) => {
      bytes[0] = 3
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(bytes.length - 4, crc32c(bytes, 0, bytes.length - 4))
    })
    expect(await refusal(files)).toMatchObject({ code: 'MR_CLUSTER_METADATA_NEWER', details: { what: 'the store in /meta has format 3, this release reads 1 to 2' } })
  })

  it('the directory of another node', async () => {
    expect(await refusal(await written(1), { nodeId: 2 })).toMatchObject({ code: 'MR_CLUSTER_NODE_MISMATCH', details: { found: 1, expected: 2 } })
  })

  it('a directory that is in use, and leaves it as it was', async () => {
    const files = new MemoryFileSystem()
    const engine = new LogKeyValueEngine(files)
    const { voter } = await openOn(engine, files)
    await expect(openOn(engine, files)).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_LOCKED' })
    await voter.append([Uint8Array.of(1)])
    await voter.stop()
  })
})

describe('a witness that is damaged', () => {
  it('in any one block, by rot or by a write that was torn, is read from its other copy, and goes on', async () => {
    for (let block = 0; block < 4; block++) {
      const files = await written(5)
      overwrite(files, witnessPath, zeros(witnessBlockBytes), block * witnessBlockBytes)
      for (let life = 0; life < 3; life++) {
        const { voter, machine } = await open(files)
        expect(machine.commands.length, `block ${block}`).toBe(5 + life)
        await voter.append([Uint8Array.of(9)])
        await voter.stop()
      }
    }
  })

  it('in a whole slot counts as torn only when the store is ahead: by the write that was not answered', async () => {
    const files = await written(5)
    const state = newest(files)
    // The store has one write more, and the slot for it was torn.
    await changeState(files, (before) => ({ ...before, sequence: before.sequence + 1, term: before.term + 1 }))
    overwrite(files, witnessPath, zeros(witnessSlotBytes), slotOf(files, 'older'))
    const { voter, machine } = await open(files)
    expect([machine.commands.length, machine.ledTerm]).toEqual([5, state.term + 2])
    await voter.stop()
  })

  it('in a whole slot beside a store that is not ahead stops the start: the lost slot may have been the newest', async () => {
    const older = await written(5)
    overwrite(older, witnessPath, zeros(witnessSlotBytes), slotOf(older, 'older'))
    expect((await refusal(older)).details['reason']).toMatch(/the witness is damaged, and not by a crash: one of its two slots/)
    // The same image, by the loss of the newest slot and of the write that it told of.
    const lost = await withOlderStore(4, 1)
    overwrite(lost, witnessPath, zeros(witnessSlotBytes), slotOf(lost, 'newest'))
    expect((await refusal(lost)).details['reason']).toMatch(/the witness is damaged, and not by a crash: one of its two slots/)
  })

  it('with a slot that holds an older write than it must stops the start too', async () => {
    const files = await written(5)
    const state = newest(files)
    overwrite(files, witnessPath, encodeWitnessSlot({ ...state, sequence: state.sequence - 3 }), witnessSlotAt(state.sequence - 3))
    expect((await refusal(files)).details['reason']).toContain(`it has write ${state.sequence - 3} beside write ${state.sequence}`)
  })

  it('with blocks in each other\'s places does not take them for its own', async () => {
    const files = await written(5)
    const bytes = bytesOf(files, witnessPath)
    overwrite(files, witnessPath, bytes.slice(0, witnessSlotBytes), witnessSlotBytes)
    overwrite(files, witnessPath, bytes.slice(witnessSlotBytes), 0)
    expect((await refusal(files)).details['reason']).toContain('neither of its two slots can be read')
  })
})

describe('a store that is one write ahead of its witness', () => {
  it('had no answer given: it is taken, and the witness catches up before anything else', async () => {
    const files = await written(3)
    const before = bytesOf(files, witnessPath)
    const { voter } = await open(files)
    await voter.stop()
    overwrite(files, witnessPath, before)
    const again = await open(files)
    expect(again.machine.commands.length).toBe(3)
    await again.voter.stop()
    expect(newest(files).sequence).toBe(readWitness(before).newest!.sequence + 2)
  })
})

describe('a write that fails', () => {
  it('fails all that was pending with the error of the disk, loses the lead, and ends the broker', async () => {
    const { engine } = new CrashDisk().boot()
    const error = new MillraceError('MR_FILE_FAILED', { operation: 'write', path: '/meta', reason: 'EIO' })
    let broken = false
    const { voter, machine } = await openOn({
      takesSpace: false,
      open: async (path) => {
        const store = await engine.open(path)
        return { ...store, write: (puts, how) => (broken ? Promise.reject(error) : store.write(puts, how)) }
      },
    }, new MemoryFileSystem())
    await voter.append([Uint8Array.of(1)])
    broken = true
    fatalErrors.length = 0
    const results = await Promise.allSettled([voter.append([Uint8Array.of(2)]), voter.append([Uint8Array.of(3)])])
    expect(results.map((result) => result.status === 'rejected' && result.reason === error)).toEqual([true, true])
    expect(machine.events.at(-1)).toBe('lost')
    expect(machine.commands).toEqual([Uint8Array.of(1)])
    expect(fatalErrors).toEqual([error])
    await expect(voter.append([Uint8Array.of(4)])).rejects.toMatchObject({ code: 'MR_CLUSTER_NOT_CONTROLLER' })
    await voter.stop()
  })

  it('of the witness does so too, though the store has the entry', async () => {
    const files = new MemoryFileSystem()
    const { voter, machine } = await open(files)
    await voter.append([Uint8Array.of(1)])
    files.faults.add({ operation: 'sync', path: witnessPath, error: 'EIO' })
    fatalErrors.length = 0
    await expect(voter.append([Uint8Array.of(2)])).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })
    expect(machine.commands).toEqual([Uint8Array.of(1)])
    expect(fatalErrors).toHaveLength(1)
    await voter.stop()
  })
})

describe('writes', () => {
  it('take all appends that came while one was under way: one sync of the store and one of the witness for all of them', async () => {
    const files = new MemoryFileSystem()
    const { voter } = await open(files)
    const syncs: string[] = []
    files.observe = ({ kind, path }) => { if (kind === 'sync') syncs.push(path) }
    await Promise.all(Array.from({ length: 50 }, (_, index) => voter.append([Uint8Array.of(index)])))
    // The first goes alone, the other 49 together.
    expect(syncs).toEqual(['/meta/log/store.log', witnessPath, '/meta/log/store.log', witnessPath])
    await voter.stop()
  })
})

describe('the log', () => {
  it('that is whole from its first entry is complete without the pointer to its snapshot', async () => {
    const files = await written(6, { snapshotEntries: 5 })
    await remove(files, pointerKey)
    const { voter, machine } = await open(files)
    expect(machine.commands.length).toBe(6)
    await voter.stop()
  })

  it('keeps the snapshot before the newest, and the entries since then', async () => {
    const files = await written(17, { snapshotEntries: 5 })
    await edit(files, async (store) => {
      const indexes = (await store.range({ from: entryKey(0), to: Uint8Array.of(0x66) })).map(([key]) => Number(new DataView(key.buffer, key.byteOffset + 1).getBigInt64(0)))
      expect(indexes).toEqual([11, 12, 13, 14, 15, 16, 17])
      expect(decodeEntry(emptyLog, 1, (await store.get(entryKey(11)))!)).toBeTypeOf('string')
      const pieces = (await store.range({ from: Uint8Array.of(0x73), to: Uint8Array.of(0x74) })).map(([key]) => Number(new DataView(key.buffer, key.byteOffset + 1).getBigInt64(0)))
      expect(pieces).toEqual([10, 15])
    })
  })
})
