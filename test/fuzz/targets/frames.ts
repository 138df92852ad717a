import { connect } from 'node:net'
import { type Prng } from '../../../src/base/prng.ts'
import { type Broker } from '../../../src/broker/index.ts'
import { createClient } from '../../../src/client/index.ts'
import { createTestBroker } from '../../../src/harness/index.ts'
import { framesIn, makeRequest } from '../grammar/request-grammar.ts'
import { type Specimen, SpecimenWriter } from '../grammar/specimen.ts'
import { Finding, type FuzzInput, type Target } from '../target.ts'
import { Answers } from './answers.ts'
import { HonestClient } from './honest-client.ts'
import { decompressedBytesMax } from './requests.ts'

const topics = ['t', 'orders']
const checksMax = 8
/** A connection whose answers do not come is left after this. */
const patienceMs = 30

/** A broker of this process behind a real socket: streams of several frames, in pieces of any size, sent and left. */
export class FramesTarget implements Target {
  readonly name = 'frames'
  readonly limitBytes = decompressedBytesMax + 56 * 1024 * 1024
  private broker!: Broker
  private honest!: HonestClient
  private world = { topics, topicIds: [] as readonly string[] }
  private port = 0
  private checks = 0
  private failed: Error | undefined

  static async open(): Promise<FramesTarget> {
    const target = new FramesTarget()
    await target.begin()
    return target
  }

  make(prng: Prng): Specimen {
    const writer = new SpecimenWriter()
    const count = prng.pick([1, 1, 2, 3, 8])
    for (let index = 0; index < count; index++) writer.nest(makeRequest(prng, this.world, { hugeChance: 0.001, hugeBytes: 1 << 20 }))
    if (prng.chance(0.05)) writer.raw(prng.pick(strangers))
    return writer.finish(`stream in pieces of ${prng.pick([0, 0, 1, 3, 7, 100, 1460])}`)
  }

  async run({ kind, bytes }: FuzzInput): Promise<string> {
    const answers = new Answers(framesIn(bytes))
    const pieces = Number(/\d+$/.exec(kind)?.[0] ?? 0)
    const end = await this.exchange(bytes, pieces, answers)
    if (this.failed !== undefined) throw this.failed
    return `${end} ${Math.min(answers.count, 4)} ${answers.shape}`
  }

  async check(): Promise<void> {
    await this.honest.check()
    this.world = { topics, topicIds: await this.honest.restore(topics) }
    if (++this.checks < checksMax) return
    await this.honest.readAll('t')
    await this.close()
    await this.begin()
  }

  async close(): Promise<void> {
    await this.honest.close()
    await this.broker.stop()
  }

  private async begin(): Promise<void> {
    this.broker = await createTestBroker({
      settings: { 'protocol-kafka': { decompressedBytesMax } }, broker: { 'socket.request.max.bytes': 8 << 20, 'queued.max.request.bytes': 16 << 20 },
    })
    this.port = this.broker.kafka!.port
    this.failed = undefined
    void this.broker.failed.then(error => { this.failed = new Finding(`the broker has stopped: ${String(error)}`) })
    this.honest = new HonestClient(createClient({ bootstrap: `127.0.0.1:${this.port}` }))
    this.world = { topics, topicIds: await this.honest.begin(topics) }
    this.checks = 0
  }

  private exchange(bytes: Uint8Array, pieces: number, answers: Answers): Promise<string> {
    return new Promise((resolve, reject: (error: Error) => void) => {
      const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true })
      let problem: Error | undefined
      const timer = setTimeout(() => { finish('left') }, patienceMs)
      const finish = (how: string): void => {
        clearTimeout(timer)
        socket.destroy()
        if (problem === undefined) resolve(how)
        else reject(problem)
      }
      socket.on('data', chunk => {
        try {
          answers.receive(chunk)
        } catch (error) {
          problem = error as Error
        }
        if (problem !== undefined || answers.complete) finish('answered')
      })
      socket.on('error', () => { finish('reset') })
      socket.on('close', () => { finish('closed') })
      socket.on('connect', () => {
        if (pieces === 0) socket.write(bytes)
        else for (let at = 0; at < bytes.length; at += Math.max(pieces, bytes.length >> 6)) socket.write(bytes.subarray(at, at + Math.max(pieces, bytes.length >> 6)))
        // Nothing whole was sent: nobody will answer.
        if (answers.complete) socket.end()
      })
    })
  }
}

const strangers: readonly Uint8Array[] = [
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'SSH-2.0-OpenSSH_9.6\r\n', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '\x00\x00\x00\x00', '\xff\xff\xff\xff', '\x7f\xff\xff\xff\x00',
].map(text => Uint8Array.from(Buffer.from(text, 'latin1')))
