import { describe, expect, it } from 'vitest'
import { type FileOperationKind } from '../../../../src/testkit/world/file-faults.ts'
import { cutConfigs, type CutLog, flushedCutLog } from './cut-log.ts'
import { codeOf } from './store-subjects.ts'

const truncations: Readonly<Record<string, (cut: CutLog) => number>> = {
  'its last batch': cut => cut.bases.at(-1)!,
  'into a closed segment': cut => cut.bases[2]!,
  'to its start': cut => cut.log.startOffset,
  'below its start': cut => cut.log.startOffset - 1,
  'far below its start': () => 1,
}

const cases = Object.keys(cutConfigs).flatMap(config => Object.keys(truncations).map(where => [config, where] as const))

describe('a truncation of which one call fails', () => {
  it.each(cases)('leaves nothing behind where a full disk refuses it, %s: %s', async (config, where) => {
    let refused = 0
    for (const operation of ['create', 'write'] as const) {
      for (let skip = 0, hit = true; hit; skip++) {
        const { cut, offset, first, outcome, hit: wasHit } = await failing(config, where, operation, 'ENOSPC', skip)
        hit = wasHit
        if (!hit) break
        if (outcome === 'ok') cut.expectCut(offset, first)
        else {
          expect(outcome).toBe('MR_FILE_NO_SPACE')
          refused++
        }
        await cut.turns()
        await cut.check()
        // Whatever else was on the way to the disk goes on.
        const after = await cut.next('power cut')
        await after.check()
        cut.put(2)
        await cut.flush()
        expect(codeOf(() => { cut.truncateTo(cut.bases.at(-2)!) })).toBe('ok')
        await cut.check()
        await (await cut.next('power cut')).check()
      }
    }
    expect(refused).toBeGreaterThan(0)
  })

  it.each(cases)('takes the directory out of service where the disk fails, and a start finds the log as it was, or cut, or between, %s: %s', async (config, where) => {
    for (const operation of ['open', 'create', 'stat', 'list', 'size', 'read', 'write', 'truncate', 'rename', 'remove', 'sync', 'sync directory'] as const) {
      for (let skip = 0, hit = true; hit; skip++) {
        const { cut, offset, first, outcome, hit: wasHit } = await failing(config, where, operation, 'EIO', skip)
        hit = wasHit
        if (!hit) break
        expect(outcome, `${operation}, call ${skip}`).toBe('MR_LOG_DIRECTORY_OFFLINE')
        for (const end of ['power cut', 'kill'] as const) {
          const next = await cut.nextAnyhow(end, offset, first)
          await next.check()
          next.put(3)
          await next.flush()
          await (await next.next('power cut')).check()
        }
      }
    }
  })
})

async function failing(config: string, where: string, operation: FileOperationKind, error: 'EIO' | 'ENOSPC', skip: number) {
  const cut = await flushedCutLog(cutConfigs[config]!)
  const offset = truncations[where]!(cut)
  const [first] = cut.segmentBases
  const before = cut.faultsMet()
  const end = cut.files.faults.add({ operation, error, skip, times: 1 })
  const outcome = codeOf(() => { cut.log.truncateTo(offset) })
  end()
  return { cut, offset, first, outcome, hit: cut.faultsMet() > before }
}
