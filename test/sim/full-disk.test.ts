import { describe, expect, it } from 'vitest'
import { createSimBroker } from '../../src/harness/index.ts'
import { type Client } from '../../src/client/index.ts'

const configs = { 'segment.bytes': '1048576', 'retention.ms': '60000' }

/** What frees the disk, beside the time that passes for both. */
const cures: Record<string, { readonly retentionMs: string, readonly run: (client: Client) => Promise<unknown> }> = {
  'retention': { retentionMs: '60000', run: () => Promise.resolve() },
  'the deletion of a topic': { retentionMs: '-1', run: client => client.admin().deleteTopics(['big']) },
}

describe('a broker whose disk is full', () => {
  it.each(Object.entries(cures))('lives, is freed by %s, and takes records again without a restart', async (_name, { retentionMs, run }) => {
    const sim = await createSimBroker({ seed: 3, machine: { diskBytes: 6_000_000 } })
    await sim.run(async () => {
      await sim.start()
      await using client = sim.client()
      await client.admin().createTopics([{ name: 'big', partitions: 1, configs: { ...configs, 'retention.ms': retentionMs } }, { name: 'small', partitions: 1 }])
      const producer = client.producer({ deliveryTimeoutMs: 1000 })
      const sent = (topic: string, bytes: number): Promise<boolean> => producer.send({ topic, value: new Uint8Array(bytes) }).then(() => true, () => false)
      for (let bytes = 100_000; bytes > 10;) if (!await sent('big', bytes)) bytes = Math.floor(bytes / 2)
      expect(await sent('small', 100_000)).toBe(false)
      await run(client)
      await sim.world.sleep(600_000)
      expect(await sent('small', 100_000)).toBe(true)
      await client.admin().createTopics([{ name: 'new', partitions: 1 }])
      expect(await sent('new', 100)).toBe(true)
      await sim.stop()
    }, { withinMs: 10_000_000 })
  })
})
