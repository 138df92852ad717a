import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { type BrokerProcess, startBroker } from './broker-process.ts'

const directory = mkdtempSync(join(tmpdir(), 'millrace-few-files-'))
let broker: BrokerProcess | undefined
afterAll(async () => {
  await broker?.end('SIGTERM')
  rmSync(directory, { recursive: true, force: true })
})

const figure = async (name: string): Promise<number> => {
  const text = await (await fetch(`http://${broker!.http}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

/** ApiVersions 0: whoever is answered was taken. */
const question = Uint8Array.of(0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff)

/** Those of so many connections that the broker took; the others are closed. */
async function held(port: number, count: number): Promise<Socket[]> {
  const tries = Array.from({ length: count }, () => new Promise<Socket | undefined>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined).once('data', () => { resolve(socket) }).once('close', () => { resolve(undefined) })
    socket.write(question)
  }))
  return (await Promise.all(tries)).filter(socket => socket !== undefined)
}

it('a broker that may have few files open keeps some for its logs, whoever connects and says nothing', async () => {
  broker = await startBroker(['--data', directory], { command: ['bash', '-c', 'ulimit -n 160; exec "$@"', 'bash', process.execPath] })
  const most = await figure('process_max_fds')
  expect(most).toBe(160)
  const sockets = await held(Number(broker.bootstrap.split(':')[1]), 400)
  const open = await figure('process_open_fds')
  expect(open).toBeGreaterThan(most / 2)
  expect(open).toBeLessThan(most - 10)
  expect(await figure('millrace_protocol_refused_connections_total')).toBe(400 - sockets.length)
  expect(broker.log()).toContain('connections are refused')
  const gone = sockets.map(socket => once(socket, 'close'))
  for (const socket of sockets) socket.destroy()
  await Promise.all(gone)
  const client = createClient({ bootstrap: broker.bootstrap })
  try {
    await client.admin().createTopics([{ name: 'after', partitions: 3 }])
    const producer = client.producer()
    await producer.send({ topic: 'after', value: 'there' })
    await producer.close()
  } finally {
    await client.close()
  }
  expect(await broker.end('SIGTERM')).toBe(0)
}, 60_000)
