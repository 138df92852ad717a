/**
 * What of the latency at 1,000 requests a second is the broker's own: the client of `npm run bench` beside servers that do less and less.
 * Run: npx tsx bench/latency-floor.ts [--rounds 3]. It wants gcc, and dist/ (npm run build); Kafka takes part where it is installed.
 *
 * `node:net` answers each request with 64 bytes as it comes and does nothing else: being woken, reading, writing. `network port` does the
 * same through the broker's own Network. What a broker takes beyond it is its own work, done with cold caches; what it takes in all is mostly theirs.
 */
import { fork, type ChildProcess } from 'node:child_process'
import * as net from 'node:net'
import { fileURLToPath } from 'node:url'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { NodeNetwork } from '../src/platform/node-network.ts'
import { peers, startBenchBroker, unavailable } from './kafka/brokers.ts'
import { closedLoop, closedLoopAvailable } from './kafka/closed-loop.ts'

const answerBytes = 64
const lengthBytes = 4
const topic = 'latency-floor'

/** Answers whole requests, each with its correlation id and zeros, which a Produce answer reads as no error. */
class Answers {
  #left: Buffer = Buffer.alloc(0)

  to(bytes: Buffer): Buffer[] {
    this.#left = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes])
    const answers: Buffer[] = []
    for (;;) {
      const end = this.#left.length < lengthBytes ? Infinity : lengthBytes + this.#left.readUInt32BE(0)
      if (this.#left.length < end) return answers
      const answer = Buffer.alloc(answerBytes)
      answer.writeUInt32BE(answerBytes - lengthBytes, 0)
      this.#left.copy(answer, lengthBytes, 2 * lengthBytes, 3 * lengthBytes)
      answers.push(answer)
      this.#left = this.#left.subarray(end)
    }
  }
}

function serveBare(): void {
  const server = net.createServer({ noDelay: true }, socket => {
    const answers = new Answers()
    socket.on('data', bytes => { for (const answer of answers.to(bytes as Buffer)) socket.write(answer) })
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1', () => { process.send!((server.address() as net.AddressInfo).port) })
}

async function servePort(): Promise<void> {
  const listener = await new NodeNetwork().listen({ host: '127.0.0.1', port: 0 }, socket => {
    const answers = new Answers()
    socket.open({
      data: (bytes, offset, length) => { for (const answer of answers.to(Buffer.from(bytes.subarray(offset, offset + length)))) socket.write([answer]) },
      closed: () => {},
    })
  })
  process.send!(listener.endpoint.port)
}

interface Server {
  readonly name: string
  readonly bootstrap: string
  stop(): unknown
}

async function forked(role: 'bare' | 'port', name: string): Promise<Server> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [role])
  const port = await new Promise<number>((resolve, reject) => child.once('message', resolve as (port: unknown) => void).once('exit', reject))
  return { name, bootstrap: `127.0.0.1:${port}`, stop: () => child.kill() }
}

async function broker(program: 'millrace' | 'kafka'): Promise<Server> {
  const started = await startBenchBroker(program)
  const { title, topicConfig } = peers.find(peer => peer.program === program && peer.promise === 'os')!
  await started.control.createTopic(topic, 1, topicConfig)
  return { name: title, bootstrap: started.bootstrap, stop: () => started.stop() }
}

const median = (values: readonly number[]): number => [...values].sort((left, right) => left - right)[values.length >> 1]!

async function measure(rounds: number): Promise<void> {
  if (!closedLoopAvailable()) throw new Error('there is no gcc for the client')
  const servers = [await forked('bare', 'node:net'), await forked('port', 'network port'), await broker('millrace')]
  const reason = unavailable('kafka')
  if (reason === undefined) servers.push(await broker('kafka'))
  else console.error(`Kafka is left out: ${reason}`)
  const samples = servers.map((): { p50: number[], p99: number[] } => ({ p50: [], p99: [] }))
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { bootstrap }] of servers.entries()) {
      const { p50Us, p99Us } = await closedLoop(bootstrap, topic, { rate: 1000, warmup: 1.5, seconds: 5 })
      // The first warms compilers.
      if (round > 0) { samples[index]!.p50.push(p50Us); samples[index]!.p99.push(p99Us) }
    }
  }
  for (const { stop } of servers) await stop()
  const most = median(samples.at(-1)!.p50)
  for (const [index, { name }] of servers.entries()) {
    const { p50, p99 } = samples[index]!
    console.log(`${name.padEnd(14)} p50 ${median(p50).toFixed(0).padStart(5)} µs (${(median(p50) / most).toFixed(2)}x of ${servers.at(-1)!.name}), p99 ${median(p99).toFixed(0).padStart(6)} µs`)
  }
}

const usage = `Usage: npx tsx bench/latency-floor.ts [OPTIONS]

What of the latency at 1,000 requests a second is the broker's own. It wants gcc, and dist/ (npm run build).

  --rounds N   measured rounds, 10 s for each server (default: 3)`
/** As which this file runs itself. */
const [role] = process.argv.slice(2)
if (role === 'bare') serveBare()
else if (role === 'port') await servePort()
else await measure(scriptOptionsOrExit(usage, { numbers: { rounds: 3 }, positive: ['rounds'] }).numbers.rounds)
