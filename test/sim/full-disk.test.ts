import { expect, it } from 'vitest'
import { createSimBroker } from '../../src/harness/index.ts'

it('a full disk refuses writers, serves readers, survives restarts, and takes records again when a topic is deleted', async () => {
  const sim = await createSimBroker({ seed: 3, machine: { diskBytes: 6_000_000 }, options: { broker: { 'log.segment.delete.delay.ms': 100 } } })
  await sim.run(async () => {
    await sim.start()
    await using client = sim.client()
    const admin = client.admin()
    await admin.createTopics([{ name: 'kept', partitions: 1 }, { name: 'ballast', partitions: 1 }])
    const kept: string[] = []
    const send = async (topic: string, value: string): Promise<boolean> => {
      await using producer = client.producer({ deliveryTimeoutMs: 3000 })
      return producer.send({ topic, value }).then(() => true, (error: unknown) => {
        expect(String(error)).toMatch(/no space left/)
        return false
      })
    }
    const readAll = async (): Promise<(string | null)[]> => {
      await using consumer = client.consumer()
      consumer.assign([{ topic: 'kept', partition: 0, offset: 'beginning' }])
      const values: (string | null)[] = []
      while (values.length < kept.length) values.push(...(await consumer.poll()).map(record => record.text()))
      return values
    }
    for (let count = 0; count < 10; count++) if (await send('kept', `kept ${count}`)) kept.push(`kept ${count}`)
    while (await send('ballast', 'x'.repeat(300_000)));
    expect(await send('kept', 'y'.repeat(300_000))).toBe(false)
    for (const end of [() => sim.stop(), async () => { sim.kill() }, async () => { sim.powerCut() }]) {
      await end()
      await sim.start()
      expect(await readAll()).toEqual(kept)
      expect(await send('kept', 'y'.repeat(300_000))).toBe(false)
    }
    await admin.deleteTopics(['ballast'])
    await sim.world.sleep(2000)
    for (let count = 0; count < 3; count++) {
      expect(await send('kept', `again ${count}`)).toBe(true)
      kept.push(`again ${count}`)
    }
    expect(await readAll()).toEqual(kept)
    expect(sim.logLines.filter(line => line.includes('"level":"error"')).length).toBeLessThanOrEqual(1)
    await sim.stop()
  })
})
