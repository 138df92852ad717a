import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.ts'
import { clientSettings } from '../../src/client/client-options.ts'
import { createSimBroker } from '../../src/harness/index.ts'

/** Runs with a bound on microtasks: work that makes itself anew without end would keep virtual time, and the test, from going on. */
async function withBoundedMicrotasks(most: number, work: () => Promise<unknown>): Promise<number> {
  const real = globalThis.queueMicrotask
  let count = 0
  globalThis.queueMicrotask = (task) => { if (++count <= most) real(task) }
  try {
    await work()
  } finally {
    globalThis.queueMicrotask = real
  }
  return count
}

describe('a disk that fails under a whole broker', () => {
  it.each([['in its segment', 0], ['in the redo log', 1024 * 1024]])('a fetch that waits at the end of a log whose sync fails %s is answered once, and the other directory serves', async (_where, redoBytesMax) => {
    const sim = await createSimBroker({ seed: 1, options: { data: ['/data', '/data2'], settings: { 'storage-local': { redoBytesMax } } } })
    let outcome = ''
    const microtasks = await withBoundedMicrotasks(100_000, () => sim.run(async () => {
      await sim.start()
      const client = sim.client()
      await client.admin().createTopics([{ name: 't', partitions: 2 }])
      const producer = client.producer({ deliveryTimeoutMs: 3000 })
      await producer.send({ topic: 't', partition: 0, value: 'a' })
      const consumer = client.consumer()
      consumer.assign([{ topic: 't', partition: 0, offset: 'end' }])
      await consumer.poll({ timeoutMs: 1000 })
      const { files } = sim.machine.process
      const directory = ['/data', '/data2'].find(path => files.stat(`${path}/t-0`) !== undefined)!
      files.faults.add({ operation: 'sync', path: redoBytesMax === 0 ? /t-0.*\.log$/ : new RegExp(`^${directory}/__millrace_redo/`), error: 'EIO' })
      outcome = await producer.send({ topic: 't', partition: 0, value: 'b' }).then(() => 'acknowledged', () => 'refused')
      await producer.send({ topic: 't', partition: 1, value: 'c' })
    }, { withinMs: 60_000 }))
    expect(outcome).toBe('refused')
    expect(microtasks).toBeLessThan(20_000)
  })

  it.each([['kept', {}], ['stamped with the append time', { 'message.timestamp.type': 'LogAppendTime' }]])(
    'a batch of a client in process that a full disk refused once is stored at the next try, its time %s', async (_what, configs) => {
      const sim = await createSimBroker({ seed: 1 })
      await sim.run(async () => {
        await sim.start()
        const client = new Client(sim.clientWorld('broker'), clientSettings({ inProcess: { dispatcher: sim.broker.dispatcher } }))
        await client.admin().createTopics([{ name: 't', partitions: 1, configs }])
        const producer = client.producer()
        const full = (): void => { sim.machine.process.files.faults.add({ operation: 'write', path: /\.log$/, error: 'ENOSPC', times: 1 }) }
        full()
        expect((await producer.send({ topic: 't', value: 'a' })).offset).toBe(0)
        full()
        expect((await producer.send({ topic: 't', value: 'b' })).offset).toBe(1)
      }, { withinMs: 100_000 })
    })
})
