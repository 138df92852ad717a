import { describe, expect, it } from 'vitest'
import { type PartitionLog } from '../../../../src/kernel/ports/partition-log.ts'
import { keyedBatch } from '../../../../src/testkit/conformance/log-store-compaction.ts'
import { append } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { settleTable, tableOn } from './table-log.ts'

const endsOf = (log: PartitionLog): string[] => Array.from({ length: log.lastEpoch + 1 }, (_, epoch) => JSON.stringify(log.epochEnd(epoch)))

describe('leader epochs of a compacted log', () => {
  it('begin where they began, also where their first records are gone, after a power cut and wherever recovery has to begin', async () => {
    for (let cut = 1; cut <= 48; cut++) {
      const life = await tableOn()
      const { log, timers } = life
      for (let index = 0; index < 48; index++) append(log, keyedBatch([{ key: `key ${index % 5}`, value: `${index}`.padEnd(20, '.') }]), Math.floor(index / 3))
      await settleTable(life)
      await life.store.compact()
      log.truncateTo(cut)
      const ends = endsOf(log)
      let { files } = life
      for (let start = 0; start < 2; start++) {
        files = files.afterCrash({ keepUnsynced: 'none' })
        const again = await tableOn(files, { timers })
        expect(endsOf(again.log), `cut at ${cut}, start ${start}`).toEqual(ends)
      }
    }
  })
})
