import { expect, it } from 'vitest'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from './store-subjects.ts'

it.each(['recovery-point-offset-checkpoint', 'log-start-offset-checkpoint', 'replication-offset-checkpoint', '.millrace-topic-ids', 'meta.properties'])(
  'a directory in the place where %s is written is refused by its name, with what to do', async (name) => {
    const files = new MemoryFileSystem({ clock: new ManualTimers().clock })
    files.makeDirectory(`/data/${name}.tmp`)
    const { store, logger, fatalErrors } = makeStore({ files, timers: new ManualTimers(), directories: ['/data'] })
    const told = await store.start().then(() => store.stop()).then(() => '', (error: unknown) => String(error))
    const all = [told, ...fatalErrors.map(String), ...logger.lines.map(({ fields }) => [fields['reason'], fields['error']].map(String).join())].join('\n')
    expect(all).toContain(`/data/${name}.tmp`)
    expect(all).toContain('remove the directory')
  })
