import { expect, it } from 'vitest'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'

/** A key-value store that finds no space has failed for good, and the broker with it. */
function storesNeedSpace(sim: SimBroker): void {
  const { files, keyValues } = sim.machine.process
  keyValues.failWith = ({ kind }) => (kind !== 'get' && kind !== 'range' && files.space('/').freeBytes < 64 * 1024 ? 'ENOSPC' : undefined)
}

it('on a full disk no topic is created and a client is told why, reads go on, and topics can be deleted until there is space, through any end of the broker', async () => {
  const sim = await createSimBroker({ seed: 5, machine: { diskBytes: 30_000_000 }, options: { broker: { 'log.segment.delete.delay.ms': 100 } } })
  await sim.run(async () => {
    storesNeedSpace(sim)
    await sim.start()
    let client = sim.client()
    let admin = client.admin()
    const ballast = ['b1', 'b2', 'b3', 'b4', 'b5']
    await admin.createTopics(['kept', ...ballast].map((name) => ({ name, partitions: 1 })))
    await client.producer().send({ topic: 'kept', value: 'kept' })
    const fill = async (): Promise<void> => {
      await using producer = client.producer({ deliveryTimeoutMs: 2000, idempotence: false })
      for (let sent = true, at = 0; sent; at++) {
        sent = await producer.send({ topic: ballast[at % ballast.length]!, value: 'x'.repeat(300_000) }).then(() => true, () => false)
      }
    }
    const read = async (): Promise<string | null> => {
      const consumer = client.consumer()
      consumer.assign([{ topic: 'kept', partition: 0, offset: 'beginning' }])
      const [record] = await consumer.poll({ timeoutMs: 5000 })
      await consumer.close()
      return record!.text()
    }
    await fill()
    for (const end of [async () => undefined, () => sim.stop(), async () => { sim.kill() }, async () => { sim.powerCut() }]) {
      await end()
      if (!sim.isRunning) {
        storesNeedSpace(sim)
        await sim.start()
        // A connection that is not told of a power cut would be waited for.
        await client.close()
        client = sim.client()
        admin = client.admin()
      }
      await expect(admin.createTopics([{ name: 'new', partitions: 1 }])).rejects.toThrow(/bytes free, and nothing is added to it below 4194304; delete topics/)
      expect(await read()).toBe('kept')
      await admin.deleteTopics([ballast.shift()!])
      // Others take what was freed.
      await sim.world.sleep(2000)
      await fill()
    }
    await admin.deleteTopics(ballast)
    await sim.world.sleep(2000)
    await admin.createTopics([{ name: 'new', partitions: 1 }])
    expect(await read()).toBe('kept')
    await client.close()
    await sim.stop()
  })
})
