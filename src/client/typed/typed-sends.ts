import { closedError } from '../client-error.ts'
import { type ProducerRecord, type RecordMetadata } from '../producer/producer-record.ts'
import { isPromise } from './serde.ts'
import { type AnyTypedTopic, type RecordToSend } from './typed-topic.ts'

/** Whoever takes records that are in bytes. */
export interface BytesTaker {
  take(record: ProducerRecord): Promise<RecordMetadata>
  takeMany(records: readonly ProducerRecord[]): Promise<RecordMetadata[]>
}

/**
 * Typed records on their way to bytes. Those whose serdes answer at once go on at once; behind one of the same topic that waits (for a registry, a validator)
 * all others wait too, so that the order stays that of the calls.
 */
export class TypedSends {
  private readonly taker: BytesTaker
  /** By topic: settled when all that was given for it so far has been handed on. */
  private readonly tails = new Map<string, Promise<void>>()
  private isClosed = false

  constructor(taker: BytesTaker) {
    this.taker = taker
  }

  send(topic: AnyTypedTopic, record: RecordToSend<never, never>): Promise<RecordMetadata> {
    return this.encodeThen(topic, () => topic.encode(record), encoded => this.taker.take(encoded))
  }

  /** Nothing is sent when one cannot be encoded. */
  sendMany(topic: AnyTypedTopic, records: readonly RecordToSend<never, never>[]): Promise<RecordMetadata[]> {
    return this.encodeThen(topic, () => encodeAll(topic, records), encoded => this.taker.takeMany(encoded))
  }

  /** Settled when all that was given so far has been handed on, or failed; undefined when it has. */
  handedOn(): Promise<void> | undefined {
    return this.tails.size === 0 ? undefined : Promise.all(this.tails.values()).then(() => undefined)
  }

  /** What is not handed on yet fails with MR_CLIENT_CLOSED. */
  close(): void {
    this.isClosed = true
  }

  private encodeThen<E, R>({ name }: AnyTypedTopic, encode: () => E | Promise<E>, handOn: (encoded: E) => Promise<R>): Promise<R> {
    let encoded: E | Promise<E>
    try {
      encoded = encode()
    } catch (error) {
      return Promise.reject(error as Error)
    }
    const before = this.tails.get(name)
    if (before === undefined && !isPromise(encoded)) return handOn(encoded)
    // Whether it fails is heard when its turn comes.
    if (isPromise(encoded)) void Promise.resolve(encoded).catch(() => undefined)
    return new Promise((resolve, reject) => {
      const tail: Promise<void> = Promise.resolve(before).then(() => encoded).then(ready => {
        if (this.isClosed) reject(closedError('producer'))
        else resolve(handOn(ready))
      }, reject).then(() => {
        if (this.tails.get(name) === tail) this.tails.delete(name)
      })
      this.tails.set(name, tail)
    })
  }
}

function encodeAll(topic: AnyTypedTopic, records: readonly RecordToSend<never, never>[]): ProducerRecord[] | Promise<ProducerRecord[]> {
  const encoded: (ProducerRecord | Promise<ProducerRecord>)[] = []
  let isLate = false
  try {
    for (const record of records) {
      const each = topic.encode(record)
      isLate ||= isPromise(each)
      encoded.push(each)
    }
  } catch (error) {
    // Those that are under way may fail too; one failure is told.
    for (const each of encoded) if (isPromise(each)) void Promise.resolve(each).catch(() => undefined)
    throw error
  }
  return isLate ? Promise.all(encoded.map(async each => each)) : encoded as ProducerRecord[]
}
