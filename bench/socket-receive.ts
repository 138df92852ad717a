/**
 * What receiving costs: shared memory against a fresh chunk for each read, over loopback, bytes dropped on arrival.
 * Run: npx tsx bench/socket-receive.ts [--mib 1024]. Compare the ratio; the sender shares the machine.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { NodeNetwork } from '../src/platform/node-network.ts'
import { type SocketHandler } from '../src/kernel/ports/network.ts'

const usage = `Usage: npx tsx bench/socket-receive.ts [OPTIONS]

What receiving costs: shared memory against a fresh chunk for each read.

  --mib N   MiB in each round (default: 1024)`
/** This file runs itself as the sender, too. */
const isSender = process.argv[2] === 'send'
const roundMib = isSender ? 0 : scriptOptionsOrExit(usage, { numbers: { mib: 1024 }, positive: ['mib'] }).numbers.mib
const ways = ['shared', 'chunks'] as const
const rounds = 5

interface Result {
  readonly mibPerSecond: number
  readonly cpuMsPerGib: number
}

async function round(receive: typeof ways[number]): Promise<Result> {
  const network = new NodeNetwork({ receive })
  let received = 0
  let startMs = 0
  let cpu = process.cpuUsage()
  const done = new Promise<void>(resolve => {
    const handler: SocketHandler = {
      data: (_bytes, _offset, length) => {
        if (received === 0) {
          startMs = performance.now()
          cpu = process.cpuUsage()
        }
        received += length
      },
      closed: () => resolve(),
    }
    void network.listen({ host: '127.0.0.1', port: 0 }, socket => socket.open(handler)).then(listener => {
      const sender = fork(fileURLToPath(import.meta.url), ['send', String(listener.endpoint.port), String(roundMib)])
      sender.once('exit', () => void listener.close())
    })
  })
  await done
  const elapsedMs = performance.now() - startMs
  const used = process.cpuUsage(cpu)
  const gib = received / 2 ** 30
  return { mibPerSecond: received / 2 ** 20 / (elapsedMs / 1000), cpuMsPerGib: (used.user + used.system) / 1000 / gib }
}

async function send(port: number, mib: number): Promise<void> {
  const socket = await new NodeNetwork().connect({ host: '127.0.0.1', port }, { timeoutMs: 5000 })
  const piece = new Uint8Array(1 << 20)
  let left = mib
  const more = (): void => {
    while (left > 0) {
      left--
      if (!socket.write([piece])) return
    }
    socket.end()
  }
  socket.open({ data: () => {}, drained: more, closed: () => process.exit(0) })
  more()
}

const median = (values: number[]): number => values.sort((left, right) => left - right)[values.length >> 1]!

async function main(): Promise<void> {
  const results = new Map<string, Result[]>(ways.map(way => [way, []]))
  for (let index = 0; index <= rounds; index++) {
    // The first round warms up; candidates take turns.
    for (const way of ways) {
      const result = await round(way)
      if (index > 0) results.get(way)!.push(result)
    }
  }
  const rows = ways.map(way => {
    const all = results.get(way)!
    return { receive: way, mibPerSecond: Math.round(median(all.map(each => each.mibPerSecond))), cpuMsPerGib: Math.round(median(all.map(each => each.cpuMsPerGib))) }
  })
  console.table(rows)
  console.log(`shared / chunks: throughput ${(rows[0]!.mibPerSecond / rows[1]!.mibPerSecond).toFixed(2)}, CPU ${(rows[0]!.cpuMsPerGib / rows[1]!.cpuMsPerGib).toFixed(2)}`)
}

if (isSender) await send(Number(process.argv[3]), Number(process.argv[4]))
else await main()
