import { describe, expect, it } from 'vitest'
import { SpaceReserve } from '../../../../src/plugins/coordination-single/io/space-reserve.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { MemoryKeyValueEngine } from '../../../../src/testkit/world/memory-key-value-engine.ts'
import { RecordingLogger } from '../../../../src/testkit/world/recording-telemetry.ts'
import { clusterId, voterWorld } from './voter-world.ts'

const kib = 1024
const reserveBytes = 256 * kib

/** Others fill the disk up to so many bytes free. */
function fill(files: MemoryFileSystem, leave: number): void {
  const free = files.space('/').freeBytes
  const file = files.open('/ballast', 'ensure')
  if (free > leave) file.write([new Uint8Array(free - leave)], file.size())
  file.close()
}

const reserveSize = (files: MemoryFileSystem): number => files.stat('/meta/reserve')?.bytes ?? 0

/** A disk of 2 MiB on which a store writes nothing, and fails for good where it would not find 64 KiB. */
async function started(files = new MemoryFileSystem({ capacityBytes: 2048 * kib }), before = new MemoryKeyValueEngine({ files })) {
  const failures: unknown[] = []
  const log = new RecordingLogger()
  const engine = before.afterCrash({ keepUnsynced: 'none' }, {
    files, failWith: ({ kind }) => (kind !== 'get' && kind !== 'range' && files.space('/').freeBytes < 64 * kib ? 'ENOSPC' : undefined),
  })
  const options = { nodeId: 1, clusterId, path: '/meta', snapshotEntries: 4, snapshotBytes: 1 << 20, reserveBytes }
  const voter = new SingleVoter(options, { ...voterWorld(engine, { fatal: (error) => { failures.push(error) } }), files, log })
  await voter.start()
  await voter.open(new NotedMachine())
  return { voter, files, failures, log, engine }
}

describe('a full disk', () => {
  it('refuses what adds, with the bytes that are free, one line and nothing appended, until there is space again', async () => {
    const { voter, files, log } = await started()
    voter.checkSpace()
    fill(files, reserveBytes - 1)
    for (let count = 0; count < 2; count++) {
      expect(() => { voter.checkSpace() }).toThrow(expect.objectContaining({
        code: 'MR_CLUSTER_NO_SPACE', details: { path: '/meta', freeBytes: reserveBytes - 1, floorBytes: reserveBytes },
      }))
    }
    files.remove('/ballast')
    voter.checkSpace()
    expect(log.lines.map(({ level }) => level)).toEqual(['info', 'error', 'info'])
    await voter.stop()
  })

  it('takes what must be written all the same: the reserve is given up for it and taken again', async () => {
    const { voter, files, failures } = await started()
    expect(reserveSize(files)).toBe(reserveBytes)
    fill(files, 0)
    for (let count = 0; count < 9; count++) {
      await voter.append([Uint8Array.of(count)])
      // Before the next of whoever fills the disk.
      expect(files.space('/').freeBytes).toBe(0)
      expect(reserveSize(files)).toBe(reserveBytes)
    }
    expect(failures).toEqual([])
    expect(voter.status().appliedIndex).toBe(9)
    await voter.stop()
  })

  it('lets the broker start, and what must be written be written after that', async () => {
    const { voter, files, engine } = await started()
    fill(files, 0)
    await voter.stop()
    const again = await started(files.afterCrash({ keepUnsynced: 'none' }), engine)
    expect(reserveSize(again.files)).toBe(reserveBytes)
    await again.voter.append([Uint8Array.of(1)])
    expect(again.failures).toEqual([])
    await again.voter.stop()
  })

  it('of whose reserve nothing is left ends the broker at the next write', async () => {
    const { voter, files, failures } = await started()
    files.remove('/meta/reserve')
    fill(files, 0)
    await expect(voter.append([Uint8Array.of(1)])).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })
    expect(failures).toHaveLength(1)
    await voter.stop()
  })
})

describe('the reserve', () => {
  const reserve = (files: MemoryFileSystem, bytes = reserveBytes) => new SpaceReserve(files, { directory: '/meta', bytes })
  const disk = (capacityBytes: number): MemoryFileSystem => {
    const files = new MemoryFileSystem({ capacityBytes })
    files.makeDirectory('/meta')
    return files
  }

  it('is made where there is room for twice as much, and found by the next start', () => {
    const small = disk(2 * reserveBytes - 1)
    reserve(small).restore(0)
    expect(reserveSize(small)).toBe(0)
    const files = disk(2 * reserveBytes)
    reserve(files).restore(0)
    expect(reserveSize(files)).toBe(reserveBytes)
    const next = reserve(files)
    next.find()
    fill(files, 0)
    expect(next.release()).toBe(reserveBytes)
    expect(files.space('/').freeBytes).toBe(reserveBytes)
  })

  it.each(['sync', 'sync directory'] as const)('is not synced again in this life of the broker when a %s of it failed', (operation) => {
    const files = disk(4 * reserveBytes)
    files.faults.add({ operation, path: /^\/meta/, error: 'EIO', times: 1 })
    const failing = reserve(files)
    failing.restore(0)
    expect(files.faults.failures).toBe(1)
    const calls: string[] = []
    files.observe = ({ kind, path }) => { if (kind !== 'stat') calls.push(`${kind} ${path}`) }
    failing.restore(0)
    failing.restore(reserveBytes)
    expect(calls).toEqual([])
    expect(reserveSize(files)).toBe(0)
    reserve(files).restore(0)
    expect(reserveSize(files)).toBe(reserveBytes)
  })

  it('takes what others left of it', () => {
    const files = disk(2 * reserveBytes)
    const held = reserve(files)
    held.restore(0)
    fill(files, 0)
    const released = held.release()
    fill(files, 100 * kib)
    held.restore(released)
    expect(reserveSize(files)).toBe(64 * kib)
  })

  it('that cannot be written leaves nothing behind', () => {
    const files = disk(4 * reserveBytes)
    files.faults.add({ operation: 'write', error: 'ENOSPC', keptBytes: 1000, times: 1 })
    const held = reserve(files)
    held.restore(0)
    expect(files.stat('/meta/reserve')).toBeUndefined()
    held.restore(0)
    expect(reserveSize(files)).toBe(reserveBytes)
  })

  it('of no bytes bounds nothing', () => {
    const files = disk(100)
    const none = reserve(files, 0)
    none.restore(0)
    expect([none.isLow, files.stat('/meta/reserve')]).toEqual([false, undefined])
  })
})
