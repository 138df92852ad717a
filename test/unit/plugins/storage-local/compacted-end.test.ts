import { describe, expect, it } from 'vitest'
import { putKeys, recordsOfTable, settleTable, tableDirectory, tableOn } from './table-log.ts'

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
})
