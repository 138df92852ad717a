import { expect, it } from 'vitest'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { ClusterMetadata } from '../../src/kernel/ports/cluster-metadata.ts'

/** Names and labels of all that the broker measures. */
async function series(sim: SimBroker): Promise<string[]> {
  const { body } = await sim.machine.process.http.request(sim.broker.http!.port, '/metrics')
  return String(body).split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.slice(0, line.lastIndexOf(' ')))
}

it('1,000 topics that came, were written and read, and went leave no instrument, no note of their removal and no file', async () => {
  // A producer that still knows a topic would have it made again.
  const broker = { 'auto.create.topics.enable': false, 'log.segment.delete.delay.ms': 100 }
  const sim = await createSimBroker({ seed: 1, options: { http: 'broker:0', broker } })
  await sim.run(async () => {
    await sim.start()
    await using client = sim.client()
    const admin = client.admin()
    await using producer = client.producer()
    for (let round = 0; round < 10; round++) {
      const names = Array.from({ length: 100 }, (_, index) => `t-${round}-${index}`)
      await admin.createTopics(names.map((name) => ({ name, partitions: 1 })))
      await Promise.all(names.map((topic) => producer.send({ topic, value: 'x' })))
      const consumer = client.consumer()
      consumer.assign(names.map((topic) => ({ topic, partition: 0, offset: 'beginning' as const })))
      for (let read = 0; read < names.length;) read += (await consumer.poll({ timeoutMs: 10_000 })).length
      // Three counters of each topic, and five gauges of each partition.
      expect((await series(sim)).filter((each) => each.includes(`topic="t-${round}-`))).toHaveLength(800)
      await consumer.close()
      await admin.deleteTopics(names)
      await sim.world.sleep(2000)
      expect((await series(sim)).filter((each) => each.includes('topic="t-'))).toEqual([])
    }
    expect(sim.broker.port(ClusterMetadata).image().removals.size).toBe(0)
    expect(sim.machine.process.files.list('/data').filter((name) => name.startsWith('t-'))).toEqual([])
  })
})
