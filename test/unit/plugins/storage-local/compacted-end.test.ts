import { describe, expect, it } from 'vitest'
import { newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { putKeys, recordsOfTable, settleTable, tableDirectory, tableOn, tableSettings } from './table-log.ts'

describe('a log that was cut within what was compacted, so that its last segment has gaps', () => {
  it.each(['.index', '.timeindex'] as const)('keeps all that is left of it when it is stopped, loses its %s, and the power is cut after the next start', async suffix => {
    for (let cut = 2; cut < 48; cut++) {
      const life = await tableOn()
      putKeys(life.log, 48, { keys: 13 })
      await settleTable(life)
      await life.store.compact()
      life.log.truncateTo(cut)
      const left = await recordsOfTable(life.log)
      await life.store.stop()
      const last = life.files.list(tableDirectory).filter(name => name.endsWith('.log')).at(-1)!
      life.files.remove(`${tableDirectory}/${last.replace('.log', suffix)}`)
      const next = await tableOn(life.files, { timers: life.timers })
      await settleTable(next)
      const files = life.files.afterCrash({ keepUnsynced: 'none' })
      const again = await tableOn(files, { timers: life.timers })
      expect(await recordsOfTable(again.log), `cut at ${cut}`).toEqual(left)
      expect(files.list(tableDirectory).filter(name => name.includes('set-aside'))).toEqual([])
    }
  })

  it.each([
    ['nothing', false, 0, false], ['a checkpoint', false, 0, true], ['a restart', true, 0, false], ['some appends', false, 4, false], ['a roll', false, 12, false], ['a roll and a checkpoint', false, 12, true],
    ['a restart and some appends', true, 4, false], ['a restart and a roll', true, 12, true],
  ] as const)('loses nothing that is left when it is cut once more, and the power is cut then, after %s', async (_what, restarts, appended, settles) => {
    for (let cut = 3; cut < 48; cut += 3) {
      let life = await tableOn()
      putKeys(life.log, 48, { keys: 13 })
      await settleTable(life)
      await life.store.compact()
      life.log.truncateTo(cut)
      if (restarts) {
        await life.store.stop()
        life = await tableOn(life.files, { timers: life.timers })
      }
      putKeys(life.log, appended, { keys: 13, from: 100 })
      if (settles) await settleTable(life)
      for (const less of [1, 2]) {
        life.log.truncateTo(life.log.endOffset - less)
        const left = await recordsOfTable(life.log)
        const files = life.files.afterCrash({ keepUnsynced: 'none' })
        const again = await tableOn(files, { timers: life.timers })
        expect(await recordsOfTable(again.log), `cut at ${cut}, then ${less} less`).toEqual(left)
        expect(again.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
        expect(files.list(tableDirectory).filter(name => name.includes('set-aside'))).toEqual([])
      }
    }
  })

  // Where the cut is the end of a compacted segment nothing of that one goes, and it is appended to again.
  it.each([['by the redo log', 1 << 20], ['by syncs in its segments', 0]])('loses nothing of what is left, nor of what is appended then and flushed %s, when recovery points are written for another log and the power is cut', async (_what, redoBytesMax) => {
    for (let cut = 1; cut < 48; cut++) {
      const life = await tableOn(undefined, { config: { redoBytesMax } })
      const other = life.store.create({ topic: 'other', topicId: newTopicId(), partition: 0 }, tableSettings)
      putKeys(other, 3)
      putKeys(life.log, 48, { keys: 4 })
      await life.store.flush()
      life.log.raiseHighWatermark(life.log.endOffset)
      await life.store.compact()
      life.log.truncateTo(cut)
      putKeys(life.log, cut % 3, { keys: 4, from: 100 })
      await life.store.flush()
      other.truncateTo(other.endOffset - 1)
      const left = await recordsOfTable(life.log)
      const files = life.files.afterCrash({ keepUnsynced: 'none' })
      const again = await tableOn(files, { timers: life.timers, config: { redoBytesMax } })
      expect(await recordsOfTable(again.log), `cut at ${cut}`).toEqual(left)
      expect(files.list(tableDirectory).filter(name => name.includes('set-aside'))).toEqual([])
    }
  })
})
