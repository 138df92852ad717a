import { describe, expect, it } from 'vitest'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'

/** Creates a topic, sends 1000 records in batches, and reads half of them back. */
async function roundTrip(sim: SimBroker): Promise<string[]> {
  await using client = sim.client()
  await client.admin().createTopics([{ name: 'orders', partitions: 2 }])
  const producer = client.producer({ compression: 'gzip' })
  await producer.sendMany(Array.from({ length: 1000 }, (_, index) => ({ topic: 'orders', partition: index % 2, value: `value ${index}` })))
  const consumer = client.consumer()
  consumer.assign([{ topic: 'orders', partition: 1, offset: 'beginning' }])
  const values: string[] = []
  while (values.length < 500) values.push(...(await consumer.poll()).map(record => record.text()!))
  return values
}

async function wholeRun(seed: number): Promise<{ readonly values: string[], readonly digest: string, readonly errors: readonly string[] }> {
  const sim = await createSimBroker({ seed, options: { preset: 'single-node' } })
  const values = await sim.run(async () => {
    await sim.start()
    const read = await roundTrip(sim)
    await sim.stop()
    return read
  })
  return { values, digest: sim.world.digest(), errors: sim.logLines }
}

describe('createSimBroker', () => {
  it('a broker and a client talk over the simulated network, and two runs of one seed leave equal traces', async () => {
    const first = await wholeRun(7)
    expect(first.values).toEqual(Array.from({ length: 500 }, (_, index) => `value ${2 * index + 1}`))
    expect(first.errors).toEqual([])
    expect(await wholeRun(7)).toEqual(first)
    expect((await wholeRun(8)).digest).not.toBe(first.digest)
  })

  it('after stop, kill and power cut the broker has what was acknowledged, and answers nobody in between', async () => {
    const sim = await createSimBroker({ seed: 1 })
    await sim.run(async () => {
      await sim.start()
      await using client = sim.client('client', { connectTimeoutMs: 500, requestTimeoutMs: 2000 })
      const admin = client.admin()
      await admin.createTopics([{ name: 'orders', partitions: 1 }])
      const ends = { stop: () => sim.stop(), kill: () => { sim.kill() }, powerCut: () => { sim.powerCut({ keepUnsynced: 'none' }) } }
      let expected = 0
      for (const [name, end] of Object.entries(ends)) {
        const place = await client.producer().send({ topic: 'orders', value: name })
        expect(place.offset).toBe(expected++)
        await (end as () => unknown)()
        expect(sim.isRunning).toBe(false)
        await expect(admin.listTopics({ timeoutMs: 2000 })).rejects.toThrow()
        await sim.start()
      }
      const consumer = client.consumer()
      consumer.assign([{ topic: 'orders', partition: 0, offset: 'beginning' }])
      expect((await consumer.poll()).map(record => record.text())).toEqual(Object.keys(ends))
    })
  })
})
