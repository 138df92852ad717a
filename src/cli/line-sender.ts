import type { ProducerRecord, RecordMetadata } from '../client/index.ts'
import { isMillraceError, MillraceError } from '../kernel/errors/index.ts'
import { type RecordHeader } from '../kernel/record/log-record.ts'

/** Records given to the producer and not answered yet: enough to fill every batch, little enough to stop soon. */
const underWayMax = 50_000

/** Errors that say something about one record; after any other the rest would fail as well. */
const ofOneRecord = new Set(['MR_CLIENT_RECORD_TOO_LARGE', 'MR_CLIENT_RECORD_INVALID', 'MR_RECORD_TOO_LARGE'])

export interface RecordSink {
  send(record: ProducerRecord): Promise<RecordMetadata>
}

export interface LineSenderOptions {
  readonly topic: string
  /** Where the lines come from, for errors. */
  readonly source: string
  readonly keySeparator?: string
  readonly partition?: number
  /** A value that is this text is sent as null. */
  readonly nullValue?: string
  readonly headers?: readonly RecordHeader[]
}

export interface Failure {
  error: unknown
  count: number
}

/** Makes a record of each line and counts what becomes of it. */
export class LineSender {
  readonly #sink: RecordSink
  readonly #options: LineSenderOptions
  readonly #separator: Buffer | undefined
  readonly #nullValue: Buffer | undefined
  readonly #acknowledged: (place: RecordMetadata) => void
  readonly #failed: (error: unknown) => void
  #underWay = 0
  #wake: (() => void) | undefined
  lines = 0
  sent = 0
  failed = 0
  bytes = 0
  /** Acknowledged records of each partition. */
  readonly partitions = new Map<number, number>()
  /** By code and text: what went wrong, and how often. */
  readonly failures = new Map<string, Failure>()
  /** Nothing more should be read: the rest would fail, too. */
  hopeless = false

  constructor(sink: RecordSink, options: LineSenderOptions) {
    this.#sink = sink
    this.#options = options
    this.#separator = options.keySeparator === undefined ? undefined : Buffer.from(options.keySeparator)
    this.#nullValue = options.nullValue === undefined ? undefined : Buffer.from(options.nullValue)
    this.#acknowledged = (place) => {
      this.sent += 1
      this.partitions.set(place.partition, (this.partitions.get(place.partition) ?? 0) + 1)
      this.#settled()
    }
    this.#failed = (error) => {
      this.failed += 1
      const key = isMillraceError(error) ? error.code : String(error)
      const known = this.failures.get(key)
      if (known === undefined) this.failures.set(key, { error, count: 1 })
      else known.count += 1
      this.hopeless ||= !(isMillraceError(error) && ofOneRecord.has(error.code))
      this.#settled()
    }
  }

  /** The bytes are only needed during the call. Throws MR_CLI_INPUT for a line without the separator. */
  line(bytes: Uint8Array): void {
    this.lines += 1
    this.bytes += bytes.length
    const { topic, partition, headers } = this.#options
    const at = this.#separator === undefined ? 0 : this.#separatorIn(bytes)
    const key = this.#separator === undefined ? null : bytes.subarray(0, at)
    const text = this.#separator === undefined ? bytes : bytes.subarray(at + this.#separator.length)
    const value = this.#nullValue?.equals(text) === true ? null : text
    this.#underWay += 1
    this.#sink.send({ topic, key, value, ...partition === undefined ? {} : { partition }, ...headers === undefined ? {} : { headers } })
      .then(this.#acknowledged, this.#failed)
  }

  /** Records given to the producer that are neither acknowledged nor failed. */
  get underWay(): number {
    return this.#underWay
  }

  /** Whether to wait for `room` before more lines are given. */
  get crowded(): boolean {
    return this.#underWay >= underWayMax
  }

  room(): Promise<void> {
    return new Promise((resolve) => { this.#wake = resolve })
  }

  #settled(): void {
    this.#underWay -= 1
    if (this.#wake === undefined || (this.#underWay > underWayMax / 2 && !this.hopeless)) return
    const wake = this.#wake
    this.#wake = undefined
    wake()
  }

  #separatorIn(bytes: Uint8Array): number {
    const separator = this.#separator!
    const at = separator.length === 1
      ? bytes.indexOf(separator[0]!)
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(separator)
    if (at >= 0) return at
    throw new MillraceError('MR_CLI_INPUT', {
      path: this.#options.source, line: this.lines, reason: `it has no key separator ${JSON.stringify(this.#options.keySeparator)}; nothing was sent from this line on`,
    })
  }
}
