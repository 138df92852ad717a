import { describe, expect, it } from 'vitest'
import { isMillraceError, MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type KeyValueEngine } from '../../../../src/kernel/ports/key-value-store.ts'
import { entryKey } from '../../../../src/plugins/coordination-single/core/store-layout.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { CrashDisk } from './crash-key-value.ts'
import { voterWorld } from './voter-world.ts'

const options = { nodeId: 1, path: '/meta', snapshotEntries: 100, snapshotBytes: 1 << 20, reserveBytes: 0 }
const fatalErrors: unknown[] = []
const fatal = { fatal: (error: unknown) => { fatalErrors.push(error) } }
const keyText = (index: number): string => String.fromCharCode(...entryKey(index))

async function open(engine: KeyValueEngine, changed: Partial<typeof options> = {}) {
  const voter = new SingleVoter({ ...options, ...changed }, voterWorld(engine, fatal))
  const machine = new NotedMachine()
  await voter.start()
  await voter.open(machine)
  return { voter, machine }
}

/** A disk on which so many commands were acknowledged. */
async function written(count: number, changed: Partial<typeof options> = {}): Promise<CrashDisk> {
  const disk = new CrashDisk()
  const { voter } = await open(disk.boot().engine, changed)
  for (let index = 0; index < count; index++) await voter.append([Uint8Array.of(index)])
  await voter.stop()
  return disk
}

async function refusal(disk: CrashDisk, changed: Partial<typeof options> = {}): Promise<MillraceError> {
  try {
    await open(disk.boot().engine, changed)
  } catch (error) {
    if (isMillraceError(error)) return error
    throw error
  }
  throw new Error('it was opened')
}

describe('a start refuses', () => {
  it('a log with a hole, naming the index', async () => {
    const disk = await written(6)
    disk.stores.get('/meta/log')!.delete(keyText(3))
    expect(await refusal(disk)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 3, path: '/meta' } })
  })

  it('a log that lost its end, though what is left is whole', async () => {
    const disk = await written(6)
    for (const index of [5, 6]) disk.stores.get('/meta/log')!.delete(keyText(index))
    const error = await refusal(disk)
    expect(error).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 5 } })
    expect(error.message).toContain('up to 6 were acknowledged')
  })

  it('an entry with any bit changed', async () => {
    const pristine = await written(4)
    const bytes = pristine.stores.get('/meta/log')!.get(keyText(2))!
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const disk = new CrashDisk()
      for (const [path, entries] of pristine.stores) disk.stores.set(path, new Map(entries))
      const changed = bytes.slice()
      changed[bit >>> 3]! ^= 1 << (bit & 7)
      disk.stores.get('/meta/log')!.set(keyText(2), changed)
      expect(await refusal(disk), `bit ${bit}`).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 2 } })
    }
  })

  it('entries swapped, and entries of another history', async () => {
    const disk = await written(4)
    const log = disk.stores.get('/meta/log')!
    const [second, third] = [log.get(keyText(2))!, log.get(keyText(3))!]
    log.set(keyText(2), third)
    log.set(keyText(3), second)
    expect(await refusal(disk)).toMatchObject({ details: { index: 2 } })
    const other = await written(4)
    const mixed = await written(4)
    other.stores.set('/meta/witness', mixed.stores.get('/meta/witness')!)
    const { voter } = await open(other.boot().engine)
    await voter.append([Uint8Array.of(9)])
    await voter.stop()
    const longer = await written(5)
    other.stores.set('/meta/witness', longer.stores.get('/meta/witness')!)
    expect(await refusal(other)).toMatchObject({ details: { index: 5, reason: 'it is not the entry that was acknowledged' } })
  })

  it('a snapshot that was changed or lost a piece', async () => {
    for (const damage of ['change', 'delete'] as const) {
      const disk = await written(6, { snapshotEntries: 5 })
      const log = disk.stores.get('/meta/log')!
      const piece = [...log.keys()].find((key) => key.startsWith('s'))!
      if (damage === 'delete') log.delete(piece)
      else log.get(piece)![0]! ^= 1
      expect(await refusal(disk)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 5, reason: 'the snapshot fails its checksum' } })
    }
  })

  it('a snapshot pointer or hard state that was changed, or is of a newer format', async () => {
    for (const key of ['p', 'h']) {
      for (const at of [0, 2]) {
        const disk = await written(6, { snapshotEntries: 5 })
        disk.stores.get('/meta/log')!.get(key)![at]! ^= 2
        expect((await refusal(disk)).code).toBe('MR_CLUSTER_METADATA_CORRUPT')
      }
    }
  })

  it('the directory of another node', async () => {
    expect(await refusal(await written(1), { nodeId: 2 })).toMatchObject({ code: 'MR_CLUSTER_NODE_MISMATCH', details: { found: 1, expected: 2 } })
  })

  it('a directory that is in use, and leaves it as it was', async () => {
    const { engine } = new CrashDisk().boot()
    const { voter } = await open(engine)
    await expect(open(engine)).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_LOCKED' })
    await voter.append([Uint8Array.of(1)])
  })
})

describe('a write that fails', () => {
  it('fails all that was pending with the error of the disk, loses the lead, and ends the broker', async () => {
    const { engine } = new CrashDisk().boot()
    const error = new MillraceError('MR_FILE_FAILED', { operation: 'write', path: '/meta', reason: 'EIO' })
    let broken = false
    const { voter, machine } = await open({
      takesSpace: false,
      open: async (path) => {
        const store = await engine.open(path)
        return { ...store, write: (puts, how) => (broken ? Promise.reject(error) : store.write(puts, how)) }
      },
    })
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
})

describe('writes', () => {
  it('take all appends that came while one was under way', async () => {
    const disk = new CrashDisk()
    const { voter } = await open(disk.boot().engine)
    const before = disk.writes
    await Promise.all(Array.from({ length: 50 }, (_, index) => voter.append([Uint8Array.of(index)])))
    // The first goes alone, the other 49 together; each write is one of entries and one of the witness.
    expect(disk.writes - before).toBe(4)
  })
})
