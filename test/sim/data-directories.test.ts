import { describe, expect, it } from 'vitest'
import { createSimBroker } from '../../src/harness/index.ts'
import { Replicator } from '../../src/kernel/ports/replicator.ts'
import { type FileFault } from '../../src/testkit/world/file-faults.ts'

/** What keeps a directory from being opened: before its id is known, and after. */
const openings: Record<string, FileFault> = {
  'before anything of it is known': { operation: 'make directory', path: '/data2', error: 'EIO' },
  'before its id is known': { operation: 'open', path: '/data2/meta.properties', error: 'EIO' },
  'when its logs are loaded': { operation: 'read', path: /^\/data2\/t-\d\/.*\.log$/, error: 'EIO' },
  'after its id is known': { operation: 'remove', path: /^\/data2\/.kafka_clean/, error: 'EIO' },
}

describe('a data directory that cannot be opened at a start', () => {
  it.each(Object.entries(openings))('%s: its partitions are offline, none is made anew elsewhere, and the next start has all of them', async (_name, fault) => {
    const sim = await createSimBroker({ seed: 1, options: { data: ['/data', '/data2'] } })
    await sim.run(async () => {
      const endOf = async (partition: number): Promise<number | string> => {
        await using client = sim.client()
        return await client.admin().listOffsets([{ topic: 't', partition, at: 'end' }], { timeoutMs: 3000 }).then(([found]) => found!.offset, String)
      }
      await sim.start()
      {
        await using client = sim.client()
        await client.admin().createTopics([{ name: 't', partitions: 4 }])
        for (const partition of [0, 1, 2, 3]) await client.producer().send({ topic: 't', partition, value: 'a' })
      }
      await sim.stop()
      const { faults } = sim.machine.process.files
      faults.add(fault)
      await sim.start()
      const ends = await Promise.all([0, 1, 2, 3].map(endOf))
      expect(ends.filter(end => end === 1)).toHaveLength(2)
      expect(ends.filter(end => /has no leader and cannot be used/.test(String(end)))).toHaveLength(2)
      expect([...sim.broker.port(Replicator).replicas()]).toHaveLength(2)
      expect(sim.logLines.filter(line => line.includes('a partition has no log on this broker'))).toHaveLength(2)
      await sim.stop()
      faults.clear()
      await sim.start()
      expect(await Promise.all([0, 1, 2, 3].map(endOf))).toEqual([1, 1, 1, 1])
      await sim.stop()
    }, { withinMs: 100_000 })
  })
})
