import { describe, expect, it } from 'vitest'
import { keyedBatch } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { append } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { type MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf } from './store-subjects.ts'
import { recordsOfTable, settleTable, tableDirectory, tableOn, type TableLife } from './table-log.ts'

const path = '/data/recovery-point-offset-checkpoint'
const ends = [{ systemDown: false, redoBytesMax: 1 << 20 }, { systemDown: true, redoBytesMax: 0 }, { systemDown: true, redoBytesMax: 1 << 20 }]

const epochOf = (index: number): number => Math.floor(index / 40)
const epochEnds = ({ log }: TableLife) => [0, 1, 2, 3].map((epoch) => log.epochEnd(epoch))

/** A compacted log with gaps below its recovery point, and records above it, of a store that is not stopped. */
async function compacted(redoBytesMax: number): Promise<TableLife> {
  const life = await tableOn(undefined, { config: { redoBytesMax } })
  for (let index = 0; index < 148; index++) append(life.log, keyedBatch([{ key: `key ${index % 13}`, value: `${index}`.padEnd(20, '.') }]), epochOf(index))
  await settleTable(life)
  await life.store.compact()
  for (let index = 148; index < 151; index++) append(life.log, keyedBatch([{ key: `key ${index % 13}`, value: `${index}` }]), epochOf(index))
  await life.store.flush()
  life.log.raiseHighWatermark(life.log.endOffset)
  life.timers.advance(6000)
  await settled()
  return life
}

function put(files: MemoryFileSystem, text: string): void {
  const file = files.open(path, 'update')
  file.truncate(0)
  file.write([new TextEncoder().encode(text)], 0)
  file.syncNow()
  file.close()
}

describe('recovery points that are not what was written, of a compacted log after a crash', () => {
  for (const { systemDown, redoBytesMax } of ends) {
    const after = `after ${systemDown ? 'a power cut' : 'a kill'}, ${redoBytesMax === 0 ? 'without' : 'with'} a redo log`
    it(`a bit is wrong, ${after}: all records are served, leader epochs end where they ended, and nothing is set aside`, async () => {
      const life = await compacted(redoBytesMax)
      const before = await recordsOfTable(life.log)
      const image = life.files.afterCrash({ keepUnsynced: 'all', systemDown })
      for (let bit = 0; bit < bytesOf(image, path).length * 8; bit++) {
        const files = image.afterCrash({ keepUnsynced: 'all', systemDown: false })
        files.damage.flipBit(path, bit >> 3, bit & 7)
        const again = await tableOn(files, { timers: life.timers, config: { redoBytesMax } })
        expect(await recordsOfTable(again.log), `bit ${bit}`).toEqual(before)
        expect(epochEnds(again), `bit ${bit}`).toEqual(epochEnds(life))
        expect(files.list(tableDirectory).filter((name) => name.includes('set-aside')), `bit ${bit}`).toEqual([])
      }
    })

    it(`a lower one that somebody has typed, or a release without its checksum has left, ${after}: all records are served, and leader epochs end where they ended, wherever it lies in what was compacted`, async () => {
      const life = await compacted(redoBytesMax)
      const before = await recordsOfTable(life.log)
      const image = life.files.afterCrash({ keepUnsynced: 'all', systemDown })
      const point = Number(/^table 0 (\d+)/m.exec(new TextDecoder().decode(bytesOf(image, path)))![1])
      expect(point).toBeGreaterThan(100)
      for (let lower = 0; lower <= point; lower += 3) {
        const files = image.afterCrash({ keepUnsynced: 'all', systemDown: false })
        put(files, `0\n1\ntable 0 ${lower}\n`)
        const again = await tableOn(files, { timers: life.timers, config: { redoBytesMax } })
        expect(await recordsOfTable(again.log), `${lower}`).toEqual(before)
        expect(epochEnds(again), `${lower}`).toEqual(epochEnds(life))
        expect(again.logger.lines.filter(({ level }) => level !== 'info'), `${lower}`).toEqual([])
      }
    })
  }
})
