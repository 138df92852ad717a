import { describe, expect, it } from 'vitest'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { putKeys, recordsOfTable, settleTable, tableDirectory, tableOn, valuesOfTable, type TableLife } from './table-log.ts'
import { TurnThreads } from './turn-threads.ts'

/** So large that a thread is worth it. */
const largeTable = { settings: { segmentBytes: 400_000 }, config: { scrubBytesPerSecond: 0 } }

/** A table that an earlier process wrote and stopped: of its segments nothing is known but what lies beside them. */
async function earlier(): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const life = await tableOn(files, largeTable)
  putKeys(life.log, 800, { bytes: 2000 })
  await settleTable(life)
  await life.store.stop()
  return files
}

async function later(files: MemoryFileSystem, where: 'thread' | 'event loop'): Promise<TableLife & { readonly threads: TurnThreads }> {
  const threads = new TurnThreads()
  threads.files = files
  const life = await tableOn(files, { ...largeTable, ...where === 'thread' ? { threads } : {} })
  life.log.raiseHighWatermark(life.log.endOffset)
  return { ...life, threads }
}

const told = ({ logger }: TableLife): readonly string[] => logger.lines.filter(({ level }) => level !== 'info').map(({ message }) => message.split(/[:,;]/)[0]!)
const segment = `${tableDirectory}/${'0'.repeat(20)}`

describe('what a thread of compaction finds wrong in a segment', () => {
  it.each([[30, 1], [5000, 2], [300_000, 2]])('and reads right where damage is told is none: that is told, and the next round is made; a bit at byte %s, in %s reads of the thread', async (position, times) => {
    const files = await earlier()
    const life = await later(files, 'thread')
    const expected = await valuesOfTable(life.log)
    // When the thread is about to read it.
    life.threads.onMessageTaken = count => { if (count === 2) files.faults.add({ operation: 'read', path: `${segment}.log`, damage: 'bit flipped', place: { position, bit: 3 }, times }) }
    await life.store.compact()
    expect(files.counts.of('read: bit flipped')).toBe(times)
    expect(told(life)).toEqual(['bytes were read wrong from the disk'])
    await life.store.compact()
    expect([life.log.compaction!.failure, life.log.compaction!.dirtyBytes, await valuesOfTable(life.log), life.threads.started]).toEqual([undefined, 0, expected, 2])
    expect(files.list(tableDirectory).filter(name => /cleaned|swap/.test(name))).toEqual([])
  })

  it('while what was written for it cannot be removed: the disk has failed then, and the directory goes out of service, where the broker ended', async () => {
    let offline = 0
    // Which read it is decides whether anything was written by then.
    for (let skip = 0; skip < 4; skip++) {
      const files = await earlier()
      const life = await later(files, 'thread')
      life.threads.onMessageTaken = count => {
        if (count !== 2) return
        files.faults.add({ operation: 'read', path: `${segment}.log`, damage: 'bit flipped', place: { position: 300_000, bit: 3 }, skip, times: 2 })
        files.faults.add({ operation: 'remove', path: `${segment}.log.cleaned`, error: 'EIO' })
      }
      await life.store.compact()
      if (life.store.directories()[0]!.offline !== undefined) offline++
    }
    expect(offline).toBeGreaterThan(0)
  })

  it.each([30, 5000, 300_000])('is damage where it is wrong on the disk, as on the event loop: told once, refused, and shown as what the round failed with; a bit at byte %s', async position => {
    const lives = []
    for (const where of ['thread', 'event loop'] as const) {
      const files = await earlier()
      const life = await later(files, where)
      files.damage.flipBit(`${segment}.log`, position, 3)
      await life.store.compact()
      lives.push(life)
    }
    const [aside, here] = lives.map(life => ({ told: told(life), failure: life.log.compaction!.failure!.reason, damages: life.store.integrity.damages }))
    expect(aside!.damages.length).toBe(1)
    expect(aside).toEqual(here)
    expect(lives[0]!.threads.started).toBe(1)
  })

  it('is no damage where the checksums beside it are wrong: these are given up, and the next round is made', async () => {
    const files = await earlier()
    files.damage.flipBit(`${segment}.sum`, 57, 3)
    const life = await later(files, 'thread')
    for (let round = 0; round < 2; round++) await life.store.compact()
    expect(told(life)).toEqual(['the checksums of a segment were given up'])
    expect([life.log.compaction!.failure, life.log.compaction!.dirtyBytes, life.threads.started]).toEqual([undefined, 0, 2])
    expect((await recordsOfTable(life.log)).length).toBeLessThan(300)
  })
})
