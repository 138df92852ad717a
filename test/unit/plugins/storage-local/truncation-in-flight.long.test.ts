import { describe, expect, it } from 'vitest'
import { begunCutLog, cutConfigs, type CutLog, passTime } from './cut-log.ts'

/** Begins something; the disk stands still already. What it gives lets it end, where that is not the disk alone. */
type Operation = (cut: CutLog) => unknown

const operations: Readonly<Record<string, Operation>> = {
  'nothing': () => {},
  'an append that is not flushed': cut => { cut.put(1) },
  'a roll, and its closed segment not synced': cut => { cut.put(9) },
  'a flush': cut => {
    cut.put(7)
    void cut.life.store.flush()
  },
  'a checkpoint, and the indexes in it': async cut => {
    cut.put(3)
    await passTime(cut, 61_000)
    await cut.turns()
  },
  'a checkpoint of the watermarks': async cut => {
    cut.log.raiseHighWatermark(cut.log.endOffset)
    await passTime(cut, 6000)
  },
  'a deletion of records, and its files not freed': cut => { cut.deleteTo(cut.bases.at(-6)!) },
  'a retention check': cut => {
    cut.log.raiseHighWatermark(cut.log.endOffset)
    cut.log.state.settings = { ...cut.log.state.settings, retentionBytes: 800 }
    cut.life.store.sweep()
    cut.log.configure(cut.log.state.settings)
    cut.sweptTo(cut.log.startOffset)
  },
  'a truncation, and its files not freed': cut => {
    cut.truncateTo(cut.bases.at(-3)!)
    cut.put(2)
  },
}

/** Where it is cut. */
const truncations: Readonly<Record<string, (cut: CutLog) => number>> = {
  'its last batch': cut => cut.bases.at(-1)!,
  'inside a batch': cut => cut.log.endOffset - 1,
  'what is not flushed': cut => Math.min(cut.log.flushedOffset, cut.log.endOffset),
  'the active segment': cut => cut.segmentBases.at(-1)!,
  'into a closed segment': cut => cut.bases.findLast(base => base < cut.segmentBases.at(-1)! && !cut.segmentBases.includes(base)) ?? cut.bases[0] ?? cut.log.startOffset,
  'all but one batch': cut => cut.bases[1] ?? cut.log.startOffset,
  'to its start': cut => cut.log.startOffset,
  'below its start': cut => Math.max(0, cut.log.startOffset - 1),
  'far below its start': () => 0,
  'above its end': cut => cut.log.endOffset + 5,
}

/** What comes then. What was under way ends before, behind, or never. */
const ends: Readonly<Record<string, (cut: CutLog, resume: () => void) => Promise<CutLog>>> = {
  'the power is cut at once': cut => cut.next('power cut'),
  'the process is killed at once': cut => cut.next('kill'),
  'it ends, and more is appended': async (cut, resume) => {
    resume()
    await cut.turns()
    return goesOn(cut, 'power cut')
  },
  'more is appended, and it ends': async (cut, resume) => {
    cut.put(8)
    resume()
    return goesOn(cut, 'power cut')
  },
  'more is appended, it ends, and the store is stopped': async (cut, resume) => {
    cut.put(8)
    resume()
    return goesOn(cut, 'stop')
  },
  'it is cut once more at once, and the power is cut': cut => {
    cut.truncateTo(cut.bases.at(-1) ?? cut.log.startOffset)
    return cut.next('power cut')
  },
  'it is cut twice more with appends before, and the power is cut': cut => {
    cut.put(4)
    for (let count = 0; count < 2; count++) cut.truncateTo(cut.bases.at(-1) ?? cut.log.startOffset)
    return cut.next('power cut')
  },
  'it is cut once more': async (cut, resume) => {
    cut.put(4)
    cut.truncateTo(cut.bases.at(-5) ?? cut.log.startOffset)
    cut.put(3)
    resume()
    return goesOn(cut, 'kill')
  },
}

async function goesOn(cut: CutLog, end: 'power cut' | 'kill' | 'stop'): Promise<CutLog> {
  await cut.turns()
  await cut.flush()
  cut.put(3)
  await cut.flush()
  await passTime(cut, 61_000)
  await cut.flush()
  await cut.check()
  return cut.next(end)
}

describe.each(Object.entries(cutConfigs))('a log %s that is cut while something is under way', (_with, config) => {
  it.each(Object.entries(operations))('holds what is left, and takes more: %s', async (_what, operation) => {
    for (const [where, offsetOf] of Object.entries(truncations)) {
      for (const [how, end] of Object.entries(ends)) {
        const what = `${where}, then ${how}`
        try {
          const cut = await begunCutLog(config)
          const resume = cut.files.stall()
          await operation(cut)
          cut.truncateTo(offsetOf(cut))
          const next = await end(cut, resume)
          await next.check()
          next.put(5)
          await next.flush()
          await (await next.next('power cut')).check()
        } catch (error) {
          expect.fail(`${what}: ${String(error)}`)
        }
      }
    }
  })
})
