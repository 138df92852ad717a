import { describe, expect, it } from 'vitest'
import { putKeys, recordsOfTable, settleTable, tableDirectory, tableOn, valuesOfTable } from './table-log.ts'

/** Calls of a compaction in the directory of the log, and what its checkpoints take. */
async function callsOfCompaction(hit: number, error: 'EIO' | 'ENOSPC' | 'EMFILE') {
  const life = await tableOn()
  putKeys(life.log, 40)
  await settleTable(life)
  let calls = 0
  let failed = ''
  life.files.observe = ({ kind, path }) => {
    if (calls++ !== hit) return
    failed = `${kind} ${path}`
    life.files.faults.add({ operation: kind, path, error, times: 1 })
  }
  await life.store.compact()
  life.files.observe = undefined
  life.files.faults.clear()
  return { ...life, calls, failed }
}

describe('a compaction in which one call on files fails', () => {
  const last = Object.fromEntries([35, 36, 37, 38, 39].map(index => [`key ${index % 5}`, `${index}`.padEnd(20, '.')]))

  it.each(['EIO', 'ENOSPC', 'EMFILE'] as const)('with %s, at any step, loses no last record of a key; and leaves nothing of what it wrote, neither for a later start nor on a disk that is full, unless its directory is out of service', async error => {
    const { calls } = await callsOfCompaction(-1, error)
    expect(calls).toBeGreaterThan(30)
    for (let hit = 0; hit < calls; hit++) {
      const { store, log, files, failed, timers } = await callsOfCompaction(hit, error)
      const isOffline = store.directories()[0]!.offline !== undefined
      if (!isOffline) {
        expect(await valuesOfTable(log), failed).toEqual(last)
        // Where the removal itself fails a start, or the next round, takes what is `.cleaned` away.
        const left = files.list(tableDirectory).filter(name => /\.(swap|cleaned)$/.test(name))
        expect(left.filter(name => name.endsWith('.swap') || !failed.startsWith('remove')), failed).toEqual([])
      }
      for (const keepUnsynced of ['all', 'none'] as const) {
        const again = await tableOn(files.afterCrash({ keepUnsynced, systemDown: true }), { timers })
        expect(await valuesOfTable(again.log), `${failed}, then a start with ${keepUnsynced}`).toEqual(last)
        expect(again.log.endOffset).toBe(40)
        expect(again.logger.lines.filter(({ level }) => level === 'error'), failed).toEqual([])
      }
    }
  })

  it('goes on at the next round, and comes to the same', async () => {
    const { store, log, failed, timers } = await callsOfCompaction(4, 'EMFILE')
    expect(failed).not.toBe('')
    timers.advance(31_000)
    await store.compact()
    expect(log.compaction?.failure).toBeUndefined()
    expect(await valuesOfTable(log)).toEqual(last)
    expect((await recordsOfTable(log)).length).toBeLessThan(20)
  })
})
