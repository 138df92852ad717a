import { describe, expect, it } from 'vitest'
import { cutConfigs, cutDirectory, CutLog, flushedCutLog, passTime } from './cut-log.ts'
import { codeOf } from './store-subjects.ts'

describe('a truncation', () => {
  it('that a full disk refuses takes nothing at the next power cut', async () => {
    for (const config of Object.values(cutConfigs)) {
      const cut = await flushedCutLog(config)
      cut.put(4)
      await cut.turns()
      expect(cut.log.flushedOffset).toBe(cut.log.endOffset)
      cut.files.faults.add({ operation: 'write', path: /checkpoint\.tmp$/, error: 'ENOSPC' })
      expect(codeOf(() => { cut.log.truncateTo(cut.bases[1]!) })).toBe('MR_FILE_NO_SPACE')
      await (await cut.next('power cut')).check()
    }
  })

  it('to the log start, in the middle of a segment of which the redo log has a part, leaves a log that is served after a power cut and knows its producers', async () => {
    const cut = await CutLog.begin()
    cut.put(1)
    await cut.flush()
    cut.put(4)
    await cut.turns()
    cut.deleteTo(cut.bases[2]!)
    cut.truncateTo(cut.log.startOffset)
    await cut.check()
    await (await cut.next('power cut')).check()
  })

  it('leaves no snapshot of producers that were cut to come back with a power cut', async () => {
    // Of some the next roll comes before the old end, of some behind it.
    for (const config of Object.values(cutConfigs)) for (const batches of [1, 2, 3, 4]) {
      const begin = await flushedCutLog(config)
      const cut = await begin.next('stop')
      const { endOffset } = cut.log
      expect(cut.files.list(cutDirectory).filter(name => name.endsWith('.snapshot')).at(-1)).toContain(String(endOffset))
      cut.truncateTo(cut.bases.at(-batches)!)
      cut.put(batches + 1)
      expect(cut.log.endOffset).toBeGreaterThan(endOffset)
      await cut.flush()
      await (await cut.next('power cut')).check()
    }
  })

  it('that follows on another one at once takes what that one left, though the redo log had nothing of the log before', async () => {
    const cut = await CutLog.begin()
    // Synced in its segment: the first file of the redo log is made meanwhile.
    cut.put(1)
    await cut.flush()
    cut.put(4)
    cut.truncateTo(cut.bases.at(-1)!)
    cut.truncateTo(cut.bases[0]!)
    await cut.check()
    await (await cut.next('power cut')).check()
  })

  it('of a log with a damaged batch below it is refused, and leaves the log as it was', async () => {
    const cut = await (await flushedCutLog()).next('stop')
    const [, second] = cut.segmentBases
    const path = `${cutDirectory}/${String(second).padStart(20, '0')}.log`
    cut.files.damage.flipBit(path, 16, 1)
    const { endOffset, startOffset, highWatermark } = cut.log
    expect(codeOf(() => { cut.log.truncateTo(second! + 1) })).toBe('MR_LOG_ROTTEN')
    expect([cut.log.startOffset, cut.log.endOffset, cut.log.highWatermark, cut.log.flushedOffset]).toEqual([startOffset, endOffset, highWatermark, endOffset])
    cut.put(3)
    await cut.flush()
  })

  it('answers the flushes that it overtakes, and tells when it moves the flushed offset', async () => {
    const cut = await CutLog.begin({ redoBytesMax: 0 })
    cut.put(3)
    await cut.flush()
    cut.put(7)
    cut.files.stall()
    const told: number[] = []
    cut.log.watcher = { flushed: () => { told.push(cut.log.flushedOffset) }, failed: () => {} }
    const flushed = cut.life.store.flush()
    const offset = cut.bases.at(-2)!
    cut.truncateTo(offset)
    await flushed
    expect([cut.log.flushedOffset, told]).toEqual([offset, [offset]])
  })
})

describe('a sync of files beside a segment that a truncation overtakes', () => {
  it('counts for nothing of what was appended since, of the active segment', async () => {
    const cut = await CutLog.begin({ redoBytesMax: 0 })
    cut.put(3)
    await cut.flush()
    const kept = cut.log.endOffset
    cut.put(1)
    await cut.flush()
    const resume = cut.files.stall()
    await passTime(cut, 61_000)
    await cut.turns()
    cut.truncateTo(kept)
    cut.put(1)
    expect(cut.segmentBases).toEqual([0])
    resume()
    await cut.turns()
    expect(cut.log.state.active.indexedTo).toBeLessThanOrEqual(kept)
    expect(cut.log.state.recoveryPoint()).toBeLessThanOrEqual(kept)
    await passTime(cut, 61_000)
    await cut.flush()
    expect(cut.log.state.recoveryPoint()).toBe(cut.log.endOffset)
  })

  it('counts for nothing of a segment that was closed, cut, and closed again', async () => {
    const cut = await CutLog.begin({ redoBytesMax: 0, syncsInFlightMax: 1 })
    while (cut.segmentBases.length < 2) cut.put(1)
    // The segment itself is on the disk; what is beside it, on the way.
    const closed = cut.log.state.segments[0]!
    let resume = (): void => {}
    cut.files.observe = operation => {
      if (operation.kind !== 'sync' || !operation.path.endsWith('.index')) return
      cut.files.observe = undefined
      resume = cut.files.stall()
    }
    await cut.turns()
    expect([cut.files.observe, closed.sidesSynced]).toEqual([undefined, false])
    cut.truncateTo(cut.bases.at(-4)!)
    while (cut.segmentBases.length < 2) cut.put(1)
    const syncedAgain: string[] = []
    cut.files.observe = ({ kind, path }) => { if (kind === 'sync' && path.endsWith('.index')) syncedAgain.push(path) }
    resume()
    await cut.turns()
    expect(closed.sidesSynced).toBe(true)
    expect(syncedAgain).toContain(closed.path('.index'))
    await cut.flush()
    await (await cut.next('power cut')).check()
  })
})
