import { type RecordHeader } from '../kernel/record/log-record.ts'
import { type OutputFormat } from './output.ts'
import { type OutputWriter } from './output-writer.ts'

const newline = 10
const nullText = 'null'

export interface PrintableRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** Milliseconds since 1970; -1 for none. */
  readonly timestamp: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly RecordHeader[]
}

export interface RecordPrinterOptions {
  readonly output: OutputFormat
  /** Between key and value; undefined prints values alone. */
  readonly keySeparator?: string
}

/** Records as `consume` prints them: as text the very bytes, a record a line; as JSON one object a line, with bytes as base64. */
export class RecordPrinter {
  readonly #writer: OutputWriter
  readonly #separator: Uint8Array | undefined
  readonly print: (record: PrintableRecord) => void
  #topic = ''
  #topicJson = ''

  constructor(writer: OutputWriter, options: RecordPrinterOptions) {
    this.#writer = writer
    this.#separator = options.keySeparator === undefined ? undefined : Buffer.from(options.keySeparator)
    this.print = options.output === 'json' ? (record) => { this.#json(record) } : (record) => { this.#text(record) }
  }

  #text(record: PrintableRecord): void {
    if (this.#separator !== undefined) {
      this.#bytes(record.key)
      this.#writer.bytes(this.#separator)
    }
    this.#bytes(record.value)
    this.#writer.byte(newline)
  }

  #bytes(bytes: Uint8Array | null): void {
    if (bytes === null) this.#writer.text(nullText)
    else this.#writer.bytes(bytes)
  }

  #json(record: PrintableRecord): void {
    if (record.topic !== this.#topic) {
      this.#topic = record.topic
      this.#topicJson = JSON.stringify(record.topic)
    }
    const { headers } = record
    const headersJson = headers.length === 0 ? '[]'
      : `[${headers.map(({ key, value }) => `{"key":${JSON.stringify(key)},"value":${base64Json(value)}}`).join(',')}]`
    this.#writer.text(`{"topic":${this.#topicJson},"partition":${record.partition},"offset":${record.offset},"timestamp":${record.timestamp},"key":${base64Json(record.key)},"value":${base64Json(record.value)},"headers":${headersJson}}\n`)
  }
}

function base64Json(bytes: Uint8Array | null): string {
  return bytes === null ? 'null' : `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`
}
