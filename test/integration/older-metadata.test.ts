import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/index.ts'
import { initProducerIdApi } from '../../src/wire/messages/index.ts'
import { startBroker } from './broker-process.ts'
import { cli, jsonOf } from './cli-run.ts'
import { callOnce } from './raw-peer.ts'

const base = mkdtempSync(join(tmpdir(), 'millrace-older-'))
let copies = 0
afterAll(() => { rmSync(base, { recursive: true }) })

/** What a life of a broker on the data has to say, and how it ends. */
async function life<T>(data: string, during: (client: Client, port: number) => Promise<T>, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<T> {
  const broker = await startBroker(['--data', data])
  const client = createClient({ bootstrap: broker.bootstrap })
  try {
    return await during(client, Number(broker.bootstrap.split(':')[1]))
  } finally {
    await client.close()
    await broker.end(signal)
  }
}

const send = async (client: Client, topic: string, value: string): Promise<void> => { await client.producer().send({ topic, partition: 0, value }) }

async function valuesOf(client: Client, topic: string, count: number): Promise<readonly (string | null)[]> {
  const consumer = client.consumer()
  consumer.assign([{ topic, partition: 0, offset: 'beginning' }])
  const values: (string | null)[] = []
  while (values.length < count) for (const record of await consumer.poll({ timeoutMs: 10_000 })) values.push(record.text())
  return values
}

async function producerId(port: number): Promise<number> {
  const { producerId: id } = await callOnce(port, initProducerIdApi, 4, { transactionalId: null, transactionTimeoutMs: 1000 } as never) as { readonly producerId: number }
  return id
}

describe('an older copy of the metadata that was put back', () => {
  it.each([
    { lives: 1, signal: 'SIGTERM' }, { lives: 2, signal: 'SIGKILL' },
  ] as const)('$lives lives ago, the last ended by $signal, refuses the start; after a recovery all is kept, topics that are younger too, and no producer id is given twice', async ({ lives, signal }) => {
    const data = join(base, `data-${++copies}`)
    const metadata = join(data, '__millrace_metadata')
    await life(data, async (client) => {
      await client.admin().createTopics([{ name: 'orders', partitions: 1 }])
      await send(client, 'orders', 'first')
    })
    const backup = join(base, `backup-${copies}`)
    cpSync(metadata, backup, { recursive: true })
    let largestId = -1
    const wanted = ['first']
    for (let number = 0; number < lives; number++) {
      await life(data, async (client, port) => {
        await send(client, 'orders', `life ${number}`)
        wanted.push(`life ${number}`)
        largestId = Math.max(largestId, await producerId(port))
        if (number > 0) return
        await client.admin().createTopics([{ name: 'younger', partitions: 1 }])
        await send(client, 'younger', 'kept')
      }, number === lives - 1 ? signal : 'SIGTERM')
    }
    rmSync(metadata, { recursive: true })
    cpSync(backup, metadata, { recursive: true })
    const refusal = await life(data, () => Promise.resolve('it started')).catch((error: Error) => error.message)
    expect(refusal).toMatch(/MR_CLUSTER_METADATA_OLDER: .*orders-0 has records of leader epoch .*millrace cluster recover/)
    const recovered = await cli(['cluster', 'recover', '--data', data, '--yes', '-o', 'json'])
    expect(jsonOf(recovered), recovered.stderr).toMatchObject({
      isWhole: false, lostCommands: null, topics: [{ name: 'orders', from: 'metadata' }, { name: 'younger', from: 'directories' }],
      assumed: [expect.stringContaining('the metadata is an older copy: the log of orders-0'), ...Array.from({ length: 4 }, () => expect.any(String))],
    })
    await life(data, async (client, port) => {
      expect(await producerId(port)).toBeGreaterThan(largestId)
      await send(client, 'orders', 'afterwards')
      expect(await valuesOf(client, 'orders', wanted.length + 1)).toEqual([...wanted, 'afterwards'])
      expect(await valuesOf(client, 'younger', 1)).toEqual(['kept'])
    })
  }, 240_000)
})
