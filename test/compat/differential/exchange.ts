import { connect, type Socket } from 'node:net'

import {
  type Api, BytesReader, BytesWriter, codecFor, readCorrelationId, readResponseHeaderRest, writeRequestFrame,
} from '../../../src/wire/index.ts'
import { type DraftOfFields, type Fields, type ValueOf } from '../../../src/wire/schema/definition.ts'

/** What came instead of an answer. */
export type NoAnswer = 'closed' | 'silence'

const SILENCE_MS = 1500

/** One connection to a broker, one request at a time, in any version that our codecs have. */
export class Exchange {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #closed = false
  #wake: (() => void) | undefined
  #correlationId = 0

  private constructor (socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => { this.#received = Buffer.concat([this.#received, chunk]); this.#wake?.() })
    socket.on('close', () => { this.#closed = true; this.#wake?.() })
    socket.on('error', () => {})
  }

  static async open (bootstrap: string): Promise<Exchange> {
    const at = bootstrap.lastIndexOf(':')
    const socket = connect({ host: bootstrap.slice(0, at), port: Number(bootstrap.slice(at + 1)), noDelay: true })
    await new Promise<void>((resolve, reject) => { socket.once('connect', resolve); socket.once('error', reject) })
    return new Exchange(socket)
  }

  close (): void {
    this.#socket.destroy()
  }

  /** Sends bytes as they are, and gives the next frame's bytes after its size. */
  async send (bytes: Uint8Array): Promise<Buffer | NoAnswer> {
    if (this.#closed) return 'closed'
    this.#socket.write(bytes)
    return this.#frame()
  }

  async ask<Q extends Fields, S extends Fields> (api: Api<Q, S>, version: number, request: DraftOfFields<Q>): Promise<ValueOf<S> | NoAnswer> {
    const writer = new BytesWriter()
    const correlationId = ++this.#correlationId
    writeRequestFrame(writer, api, { version, correlationId, clientId: 'differential' }, request)
    const frame = await this.send(Buffer.concat(writer.pieces()))
    if (typeof frame === 'string') return frame
    const reader = new BytesReader(frame)
    const answered = readCorrelationId(reader)
    if (answered !== correlationId) throw new Error(`${api.name} v${version}: answer ${answered} to request ${correlationId}`)
    readResponseHeaderRest(reader, api.key, version)
    const response = codecFor(api.response, version).read(reader)
    if (reader.remaining > 0) throw new Error(`${api.name} v${version}: ${reader.remaining} bytes after the answer`)
    return response
  }

  async #frame (): Promise<Buffer | NoAnswer> {
    const deadline = Date.now() + SILENCE_MS
    for (;;) {
      if (this.#received.length >= 4) {
        const end = 4 + this.#received.readInt32BE(0)
        if (this.#received.length >= end) {
          const frame = this.#received.subarray(4, end)
          this.#received = this.#received.subarray(end)
          return frame
        }
      }
      if (this.#closed) return 'closed'
      const left = deadline - Date.now()
      if (left <= 0) return 'silence'
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => { clearTimeout(timer); resolve() }
      })
    }
  }
}
