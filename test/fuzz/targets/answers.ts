import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { codecFor, FrameSplitter, readCorrelationId, readResponseHeaderRest } from '../../../src/wire/index.ts'
import { apiOf, type AskedFrame } from '../grammar/request-grammar.ts'
import { Finding } from '../target.ts'

/**
 * Reads what a broker answers to hostile requests: whole answers in the order of the requests, each readable in the version that was asked
 * for. Gives the error codes in them.
 */
export class Answers {
  private readonly splitter = new FrameSplitter({ frameBytesMax: 1 << 28 })
  private readonly asked: AskedFrame[]
  private readonly codes = new Set<string>()
  count = 0

  constructor(asked: readonly AskedFrame[]) {
    this.asked = [...asked]
  }

  /** Whether every request that is sure to be answered has been. */
  get complete(): boolean {
    return this.asked.length === 0
  }

  /** API, version and codes of the answers. */
  get shape(): string {
    return [...this.codes].sort().slice(0, 8).join(' ')
  }

  receive(bytes: Uint8Array): void {
    this.splitter.feed(bytes)
    while (this.splitter.next()) this.answer(this.splitter.buffer.slice(this.splitter.offset, this.splitter.offset + this.splitter.length))
  }

  private answer(frame: Uint8Array): void {
    this.count++
    const reader = new BytesReader(frame)
    const correlationId = readCorrelationId(reader)
    const at = this.asked.findIndex(one => one.correlationId === correlationId)
    if (at < 0) throw new Finding(`an answer to ${correlationId}, which nobody asked or which came out of turn`)
    const { key, version } = this.asked[at]!
    this.asked.splice(0, at + 1)
    const api = apiOf(key)
    if (api === undefined) throw new Finding(`an answer to an API ${key} that is none`)
    const answered = key === 18 && version > 4 || version < 0 ? 0 : version
    readResponseHeaderRest(reader, key, answered)
    const response = codecFor(api.response, answered).read(reader)
    if (reader.remaining > 0) throw new Finding(`${reader.remaining} bytes follow an answer of ${api.name} v${version}`)
    this.codes.add(`${api.name} v${version}`)
    this.collect(response)
  }

  private collect(value: unknown): void {
    if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const element of value.length > 200 ? value.slice(0, 200) : value) this.collect(element)
      return
    }
    for (const [name, inner] of Object.entries(value)) {
      if (name === 'errorCode') {
        if (inner === -1) throw new Finding('an answer says UNKNOWN_SERVER_ERROR: something in the broker was not foreseen')
        this.codes.add(String(inner))
      } else this.collect(inner)
    }
  }
}
