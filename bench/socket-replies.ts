/**
 * What a small answer costs: one client keeps 64 requests of 128 bytes under way, the server answers each with 64 bytes as it finds them.
 * Run: npx tsx bench/socket-replies.ts [--requests 400000]. The client is another process on the same machine.
 */
import { fork } from 'node:child_process'
import * as net from 'node:net'
import { fileURLToPath } from 'node:url'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { NodeNetwork } from '../src/platform/node-network.ts'

const requestBytes = 128
const replyBytes = 64
const underWay = 64
const rounds = 5

async function round(requests: number): Promise<{ readonly perSecond: number, readonly cpuNsEach: number }> {
  let received = 0
  let answered = 0
  const cpu = process.cpuUsage()
  const listener = await new NodeNetwork().listen({ host: '127.0.0.1', port: 0 }, socket => socket.open({
    data: (_bytes, _offset, length) => {
      received += length
      for (; (answered + 1) * requestBytes <= received; answered++) socket.write([new Uint8Array(replyBytes)])
    },
    closed: () => {},
  }))
  const client = fork(fileURLToPath(import.meta.url), ['client', String(listener.endpoint.port), String(requests)])
  const elapsedMs = await new Promise<number>(resolve => client.once('message', resolve))
  const used = process.cpuUsage(cpu)
  await listener.close()
  return { perSecond: requests / elapsedMs * 1000, cpuNsEach: (used.user + used.system) * 1000 / requests }
}

function client(port: number, requests: number): void {
  const socket = net.connect(port, '127.0.0.1')
  let sent = 0
  let received = 0
  let startMs = 0
  const send = (count: number): void => {
    const now = Math.min(count, requests - sent)
    if (now > 0) socket.write(Buffer.alloc(now * requestBytes))
    sent += now
  }
  socket.on('connect', () => {
    startMs = performance.now()
    send(underWay)
  })
  socket.on('data', (chunk: Buffer) => {
    const before = Math.floor(received / replyBytes)
    received += chunk.length
    const complete = Math.floor(received / replyBytes)
    send(complete - before)
    if (complete < requests) return
    process.send!(performance.now() - startMs)
    socket.destroy()
    process.disconnect()
  })
}

const usage = `Usage: npx tsx bench/socket-replies.ts [OPTIONS]

What a small answer costs.

  --requests N   requests in each round (default: 400000)`

async function main(): Promise<void> {
  const { numbers: { requests } } = scriptOptionsOrExit(usage, { numbers: { requests: 400_000 }, positive: ['requests'] })
  const results = []
  for (let index = 0; index <= rounds; index++) results.push(await round(requests))
  results.shift()
  const median = (values: number[]): number => values.sort((left, right) => left - right)[values.length >> 1]!
  console.log(`replies a second ${Math.round(median(results.map(each => each.perSecond)))}, CPU ns each ${Math.round(median(results.map(each => each.cpuNsEach)))}`)
}

if (process.argv[2] === 'client') client(Number(process.argv[3]), Number(process.argv[4]))
else await main()
