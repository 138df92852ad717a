import { type Prng } from '../../../src/base/prng.ts'
import { createSimBroker, type SimBroker } from '../../../src/harness/index.ts'
import { type Socket } from '../../../src/kernel/ports/network.ts'
import { makeRequest, framesIn, resized } from '../grammar/request-grammar.ts'
import { type Specimen } from '../grammar/specimen.ts'
import { Finding, type FuzzInput, type Target } from '../target.ts'
import { Answers } from './answers.ts'
import { HonestClient } from './honest-client.ts'

const topics = ['t', 'orders']
/** After so many checks a broker's data is read through, and another takes its place: what hostile requests make adds up. */
const checksMax = 8
/** Simulated time that an answer may take before the connection is given up: long polls are allowed to be long. */
const patienceMs = 50
export const decompressedBytesMax = 8 * 1024 * 1024

/**
 * A whole broker on a simulated machine, which is sent requests over connections. Time is virtual, so that long polls and timeouts cost
 * nothing, and everything follows from the seed.
 */
export class RequestsTarget implements Target {
  readonly name = 'requests'
  /** One request: what a batch may become, and the objects of so many elements and of the answers to them. */
  readonly limitBytes = decompressedBytesMax + 56 * 1024 * 1024
  private readonly seed: number
  private sim!: SimBroker
  private honest!: HonestClient
  private world = { topics, topicIds: [] as readonly string[] }
  private socket: Socket | undefined
  private answers: Answers | undefined
  private settled: (() => void) | undefined
  private problem: unknown
  private seenLines = 0
  private checks = 0
  private lives = 0

  private constructor(seed: number) {
    this.seed = seed
  }

  static async open(seed: number): Promise<RequestsTarget> {
    const target = new RequestsTarget(seed)
    await target.begin()
    return target
  }

  make(prng: Prng): Specimen {
    return makeRequest(prng, this.world, { hugeChance: 0.002, hugeBytes: 2 << 20, batch: { bombChance: 0.02, bombBytes: 12 << 20 } })
  }

  repair(specimen: Specimen, prng: Prng): Specimen {
    return prng.chance(0.95) ? resized(specimen) : specimen
  }

  async run({ kind, bytes }: FuzzInput): Promise<string> {
    const answers = new Answers(framesIn(bytes))
    this.problem = undefined
    await this.sim.run(() => this.exchange(bytes, answers), { withinMs: 60_000 })
    if (this.problem !== undefined) throw this.problem as Error
    const refused = this.newLines(kind)
    return `${kind} ${answers.shape} ${refused}`
  }

  async check(): Promise<void> {
    await this.sim.run(() => this.honest.check())
    if (!this.sim.isRunning) throw new Finding('the broker has stopped')
    if (++this.checks < checksMax) {
      const topicIds = await this.sim.run(() => this.honest.restore(topics))
      this.world = { topics, topicIds }
    } else {
      await this.end()
      await this.begin()
    }
    this.newLines('')
  }

  async close(): Promise<void> {
    await this.sim.run(async () => {
      await this.honest.close()
      if (this.sim.isRunning) await this.sim.stop()
    })
  }

  private async begin(): Promise<void> {
    this.sim = await createSimBroker({
      seed: this.seed + this.lives++,
      network: { fragments: false, latencyMs: () => 0.05 },
      options: {
        preset: 'single-node', logLevel: 'info', settings: { 'protocol-kafka': { decompressedBytesMax } },
        broker: { 'socket.request.max.bytes': 8 << 20, 'queued.max.request.bytes': 16 << 20 },
      },
    })
    await this.sim.run(async () => {
      await this.sim.start()
      this.honest = new HonestClient(this.sim.client('honest'))
      this.world = { topics, topicIds: await this.honest.begin(topics) }
    })
    this.checks = 0
    this.seenLines = 0
    this.socket = undefined
  }

  /** The whole of its log is sound, before and after a restart. */
  private async end(): Promise<void> {
    await this.sim.run(async () => {
      this.socket?.destroy()
      await this.honest.restore(topics)
      await this.honest.readAll('t')
      await this.sim.restart()
      await this.honest.readAll('t')
      await this.honest.check()
    })
    await this.close()
  }

  private async exchange(bytes: Uint8Array, answers: Answers): Promise<void> {
    this.answers = answers
    const socket = this.socket ??= await this.connect()
    const over = new Promise<void>(resolve => { this.settled = resolve })
    socket.write([bytes])
    // Answers may take their time, as a fetch that waits; then this end goes away.
    await Promise.race([over, this.sim.world.sleep(patienceMs)])
    this.settled = undefined
    if (this.problem === undefined && answers.complete && answers.count > 0 && this.socket === socket) return
    socket.destroy()
    if (this.socket === socket) this.socket = undefined
    await this.sim.world.sleep(1)
  }

  private async connect(): Promise<Socket> {
    const socket = await this.sim.world.machine('hostile').process.network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 5000 })
    socket.open({
      data: (bytes, offset, length) => {
        try {
          this.answers!.receive(bytes.slice(offset, offset + length))
        } catch (error) {
          this.problem ??= error
        }
        if (this.answers!.complete || this.problem !== undefined) this.settled?.()
      },
      closed: () => {
        if (this.socket === socket) this.socket = undefined
        this.settled?.()
      },
    })
    return socket
  }

  /** What the broker has logged since; an error in it was not foreseen. */
  private newLines(kind: string): string {
    const lines = this.sim.logLines.slice(this.seenLines)
    this.seenLines = this.sim.logLines.length
    const bad = lines.find(line => /"level":(50|60|"error"|"fatal")/.test(line))
    if (bad !== undefined) throw new Finding(`${kind} made the broker log an error: ${bad.slice(0, 1500)}`)
    const closing = lines.find(line => line.includes('closing a connection'))
    return closing === undefined ? '' : (/"msg":"([^"]*)"/.exec(closing)?.[1] ?? closing).replace(/\d+/g, '#').slice(0, 160)
  }
}
