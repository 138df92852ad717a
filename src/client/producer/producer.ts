import { isMillraceError, MillraceError, reasonOf } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { isArray, kindOf } from '../arguments.ts'
import { type Bytes } from '../bytes-of.ts'
import { closedError } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type BrokerPool } from '../cluster/broker-pool.ts'
import { type Metadata } from '../cluster/metadata.ts'
import { TypedSends } from '../typed/typed-sends.ts'
import { isTypedTopic, type RecordToSend, type TypedTopic } from '../typed/typed-topic.ts'
import { Accumulator } from './accumulator.ts'
import { BatchOutcomes } from './batch-outcomes.ts'
import { type FlushTicket } from './batch-receipt.ts'
import { ManyReceipts } from './many-receipts.ts'
import { type ProducerBatch } from './producer-batch.ts'
import { ProducerIdentity } from './producer-identity.ts'
import { type ProducerRecord, type RecordMetadata } from './producer-record.ts'
import { type ProducerSettings } from './producer-settings.ts'
import { ProduceSender } from './produce-sender.ts'
import { checkNames, headerList, invalid } from './record-check.ts'
import { TopicQueue, type WaitingRecord } from './topic-queue.ts'

export interface ProducerParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly settings: ProducerSettings
  readonly pool: BrokerPool
  readonly metadata: Metadata
  /** Called once, at the end of `close`. */
  readonly onClosed: () => Promise<void>
}

/** How a producer is closed. */
export interface CloseOptions {
  /** How long to wait for what is under way; after it the rest fails with MR_CLIENT_CLOSED. 0 gives everything up at once. Default 30000. */
  readonly timeoutMs?: number
}

/**
 * Sends records. Records of one partition are stored in the order of the calls; so are those of one key. With idempotence (the default) that holds
 * through lost connections and changes of leaders, and nothing is stored twice. Without it, a batch that is sent again may come behind a later one.
 */
export class Producer {
  private readonly parts: ProducerParts
  private readonly topics = new Map<string, TopicQueue>()
  private readonly accumulator: Accumulator
  private readonly outcomes: BatchOutcomes
  private readonly identity: ProducerIdentity
  private readonly sender: ProduceSender
  private readonly typed: TypedSends
  private readonly unlisten: () => void
  private lastTopic: TopicQueue | undefined
  /** Topics with records that are in no batch yet, in the order in which they came to have some. */
  private readonly crowded = new Set<TopicQueue>()
  private blockTimer: Timer | undefined
  private flushing = 0
  private closing: Promise<void> | undefined

  constructor(parts: ProducerParts) {
    this.parts = parts
    const { world, client, settings, pool, metadata } = parts
    this.accumulator = new Accumulator(world, settings)
    this.identity = new ProducerIdentity(world, client, pool, settings.idempotence, () => { this.sender.runSoon() })
    this.outcomes = new BatchOutcomes({
      world, client, deliveryTimeoutMs: settings.deliveryTimeoutMs, metadata, accumulator: this.accumulator, identity: this.identity,
      onRoom: () => { this.admitWaiting() },
    })
    this.sender = new ProduceSender({
      world, client, settings, pool, metadata, accumulator: this.accumulator, identity: this.identity, outcomes: this.outcomes,
      isFlushing: () => this.flushing > 0,
    })
    this.typed = new TypedSends({ take: record => this.take(record), takeMany: records => this.takeMany(records) })
    this.unlisten = metadata.onChange(() => { this.takeMetadata() })
  }

  /**
   * Sends one record. Resolves when it is acknowledged as `acks` says. Not awaiting each one is the fast way: records go in batches. The bytes given are
   * copied before `send` returns.
   *
   * Waits for room when `bufferBytesMax` are under way. Rejects with MR_CLIENT_BUFFER_FULL when there was none for `blockMsMax`,
   * MR_TOPIC_UNKNOWN when the topic did not turn up in that time, MR_CLIENT_DELIVERY_TIMEOUT when the record was tried for `deliveryTimeoutMs`,
   * MR_CLIENT_RECORD_TOO_LARGE, MR_CLIENT_RECORD_INVALID, MR_CLIENT_PARTITION_UNKNOWN, MR_CLIENT_AUTHENTICATION, MR_CLIENT_CLOSED, and otherwise with
   * the error that stands for the broker's answer.
   */
  send(record: ProducerRecord): Promise<RecordMetadata>
  /**
   * Sends one record of a typed topic, encoded by its serdes; rejects with what `TypedTopic.encode` throws too. A record whose serde has to wait (for a schema
   * registry, a validator) holds up those of its topic behind it, so the order stays that of the calls among typed records of a topic.
   */
  send<Key, Value>(topic: TypedTopic<string, unknown, unknown, Key, Value>, record: RecordToSend<NoInfer<Key>, NoInfer<Value>>): Promise<RecordMetadata>
  send(first: unknown, record?: unknown): Promise<RecordMetadata> {
    if (this.closing !== undefined) return Promise.reject(closedError('producer'))
    if (record === undefined) return this.take(first as ProducerRecord)
    return isTypedTopic(first) ? this.typed.send(first, record as RecordToSend<never, never>) : Promise.reject(invalid('send', 'before a second argument comes a topic that topic() made; without one it takes { topic, key, value }'))
  }

  /**
   * Sends many records for the price of one promise. Resolves with their places, in the order given, when all are acknowledged. Rejects with the first
   * failure, after all are settled; the others may have been stored.
   */
  sendMany(records: readonly ProducerRecord[]): Promise<RecordMetadata[]>
  /** Sends many records of a typed topic; none of them when one cannot be encoded. */
  sendMany<Key, Value>(topic: TypedTopic<string, unknown, unknown, Key, Value>, records: readonly RecordToSend<NoInfer<Key>, NoInfer<Value>>[]): Promise<RecordMetadata[]>
  sendMany(first: unknown, records?: unknown): Promise<RecordMetadata[]> {
    const given = records ?? first
    if (!isArray(given)) return Promise.reject(invalid('sendMany', `it was given ${kindOf(given)}; it takes an array of records`))
    if (this.closing !== undefined) return Promise.reject(closedError('producer'))
    if (records === undefined) return this.takeMany(first as readonly ProducerRecord[])
    return isTypedTopic(first) ? this.typed.sendMany(first, records as readonly RecordToSend<never, never>[]) : Promise.reject(invalid('sendMany', 'before a second argument comes a topic that topic() made; without one it takes [{ topic, key, value }]'))
  }

  /** Sends at once what is batched, and resolves when all that was given to `send` before is settled, well or badly. */
  flush(): Promise<void> {
    const handedOn = this.typed.handedOn()
    if (handedOn === undefined) return this.flushTaken()
    return Promise.all([this.flushTaken(), handedOn.then(() => this.flushTaken())]).then(() => undefined)
  }

  private flushTaken(): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        this.flushing--
        // The senders hear of it first, by however many promises.
        this.parts.world.timers.soon(resolve)
      }
      const ticket: FlushTicket = { missing: 1, done }
      this.flushing++
      for (const batch of this.accumulator.unsettled) batch.receipt.join(ticket)
      for (const topic of this.crowded) for (const waiting of topic.waiting) addTicket(waiting, ticket)
      if (--ticket.missing === 0) ticket.done()
      else this.sender.run()
    })
  }

  /**
   * Takes no more records, settles those under way, and lets go of everything. Never rejects; a second call waits for the first. Records that could not
   * be settled in `timeoutMs` fail with MR_CLIENT_CLOSED; they may have been stored.
   */
  close(options: CloseOptions = {}): Promise<void> {
    this.closing ??= this.shut(options.timeoutMs ?? 30_000)
    return this.closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private async shut(timeoutMs: number): Promise<void> {
    if (timeoutMs > 0) {
      await new Promise<void>(resolve => {
        const timer = this.parts.world.timers.after(timeoutMs, resolve)
        void this.flush().then(() => {
          timer.cancel()
          resolve()
        })
      })
    }
    const error = closedError('producer')
    this.typed.close()
    this.sender.close()
    this.identity.close()
    this.unlisten()
    this.blockTimer?.cancel()
    for (const topic of this.topics.values()) this.parts.metadata.untrack(topic.name)
    for (const topic of this.crowded) this.failWaiting(topic, error)
    for (const batch of [...this.accumulator.unsettled]) {
      this.accumulator.release(batch, false)
      batch.fail(batch.lastProblem === undefined ? error : closedBefore(batch.lastProblem), batch.recordsCount)
    }
    await this.parts.onClosed()
  }

  /** Of a record in bytes; also while the producer closes and typed records that were given before are still being encoded. */
  private take(record: ProducerRecord): Promise<RecordMetadata> {
    const topic = this.topicOf(record)
    if (topic?.info === undefined || topic.waiting.size > 0 || !this.accumulator.hasRoom) return this.sendSlowly(topic, record)
    try {
      return this.append(topic, record).receipt.promise()
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  private takeMany(records: readonly ProducerRecord[]): Promise<RecordMetadata[]> {
    const many = new ManyReceipts(records.length)
    for (let index = 0; index < records.length; index++) {
      const record = records[index]!
      const topic = this.topicOf(record)
      if (topic?.info === undefined || topic.waiting.size > 0 || !this.accumulator.hasRoom) {
        many.addPromise(index, this.sendSlowly(topic, record))
        continue
      }
      try {
        many.addRecord(index, this.append(topic, record).receipt)
      } catch (error) {
        many.addPromise(index, Promise.reject(error as Error))
      }
    }
    return many.all()
  }

  private append(topic: TopicQueue, record: ProducerRecord): ProducerBatch {
    const batch = this.accumulator.append(topic, record)
    // A full batch goes at once, even while the caller has not let go of the turn: the kernel sends while it prepares the next.
    if (batch.partition.open !== batch) this.sender.run()
    else if (batch.recordsCount === 1) this.sender.runSoon()
    return batch
  }

  private topicOf(record: ProducerRecord | null | undefined): TopicQueue | undefined {
    const name = record?.topic
    return this.lastTopic !== undefined && this.lastTopic.name === name ? this.lastTopic : this.topicNamed(name)
  }

  private topicNamed(name: string | undefined): TopicQueue | undefined {
    if (typeof name !== 'string' || name === '') return undefined
    let topic = this.topics.get(name)
    if (topic === undefined) {
      topic = new TopicQueue(name)
      this.topics.set(name, topic)
      this.parts.metadata.track(name, true)
      topic.update(this.parts.metadata.topic(name))
    }
    this.lastTopic = topic
    return topic
  }

  /** For a record that cannot go into a batch at once, or never. */
  private sendSlowly(topic: TopicQueue | undefined, record: ProducerRecord): Promise<RecordMetadata> {
    try {
      if (typeof record !== 'object' || record === null) throw invalid(record, 'a record is an object { topic, key, value }')
      if (isTypedTopic(record)) throw invalid(record.name, 'it comes behind its topic: send(topic, { key, value })')
      checkNames(record)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    if (topic === undefined) return Promise.reject(invalid(record.topic, 'the name of a topic is a text, not empty'))
    // What is certain to fail fails now.
    const error = this.finalError(topic)
    if (error !== undefined) return Promise.reject(error)
    return new Promise(settle => {
      topic.waiting.push({ record: ownRecord(record), settle, sinceMs: this.parts.world.clock.monotonicMs(), flushes: undefined })
      this.crowded.add(topic)
      if (topic.info === undefined) this.parts.metadata.refresh()
      this.planBlockTimeout()
      // A full buffer is no time to wait for more.
      this.sender.runSoon()
    })
  }

  /** Puts waiting records into batches while there is room, topic by topic. */
  private admitWaiting(): void {
    for (const topic of this.crowded) {
      while (topic.info !== undefined && topic.waiting.size > 0 && this.accumulator.hasRoom) {
        this.admit(topic, topic.waiting.shift()!)
      }
      if (topic.waiting.size === 0) this.crowded.delete(topic)
    }
  }

  private admit(topic: TopicQueue, waiting: WaitingRecord): void {
    let batch: ProducerBatch | undefined
    try {
      batch = this.append(topic, waiting.record)
      waiting.settle(batch.receipt.promise())
    } catch (error) {
      waiting.settle(rejected(error))
    }
    for (const ticket of waiting.flushes ?? []) {
      batch?.receipt.join(ticket)
      if (--ticket.missing === 0) ticket.done()
    }
  }

  private takeMetadata(): void {
    const { metadata } = this.parts
    for (const topic of this.topics.values()) {
      const info = metadata.topic(topic.name)
      if (info !== topic.info) topic.update(info)
      if (info !== undefined || topic.waiting.size === 0) continue
      const error = this.finalError(topic)
      if (error !== undefined) this.failWaiting(topic, error)
    }
    this.admitWaiting()
    this.sender.runSoon()
  }

  /** Why the records of a topic can never be sent; undefined while they may. */
  private finalError(topic: TopicQueue): Error | undefined {
    const { metadata } = this.parts
    for (const error of [metadata.topicError(topic.name), metadata.lastFailure]) {
      if (topic.info === undefined && isMillraceError(error) && !error.row.retriable) return error
    }
    return undefined
  }

  private failWaiting(topic: TopicQueue, error: Error): void {
    for (let waiting = topic.waiting.shift(); waiting !== undefined; waiting = topic.waiting.shift()) failWaitingRecord(waiting, error)
    this.crowded.delete(topic)
  }

  /** Within a topic records wait in order, so only the first of each topic has to be looked at. */
  private planBlockTimeout(): void {
    if (this.blockTimer !== undefined) return
    let firstMs = Infinity
    for (const topic of this.crowded) firstMs = Math.min(firstMs, topic.waiting.peek()!.sinceMs)
    if (firstMs === Infinity) return
    const { world, settings } = this.parts
    const delayMs = Math.max(0, firstMs + settings.blockMsMax - world.clock.monotonicMs())
    this.blockTimer = world.timers.after(delayMs, () => {
      this.blockTimer = undefined
      this.failBlocked()
      this.planBlockTimeout()
    })
  }

  private failBlocked(): void {
    const { world, settings, metadata } = this.parts
    const nowMs = world.clock.monotonicMs()
    for (const topic of this.crowded) {
      for (let first = topic.waiting.peek(); first !== undefined && first.sinceMs + settings.blockMsMax <= nowMs; first = topic.waiting.peek()) {
        topic.waiting.shift()
        const error = topic.info === undefined
          ? metadata.topicError(topic.name) ?? this.unreachable(topic, metadata.lastFailure)
          : new MillraceError('MR_CLIENT_BUFFER_FULL', { topic: topic.name, waitedMs: settings.blockMsMax, bufferBytes: settings.bufferBytesMax })
        failWaitingRecord(first, error)
      }
      if (topic.waiting.size === 0) this.crowded.delete(topic)
    }
  }

  private unreachable(topic: TopicQueue, cause: unknown): MillraceError {
    const { client, settings } = this.parts
    const none = `no answer about topic ${topic.name} within ${settings.blockMsMax} ms`
    const brokers = client.bootstrap.map(({ host, port }) => `${host}:${port}`).join(', ')
    return new MillraceError('MR_CLIENT_NO_BROKERS', { brokers, reason: cause instanceof Error ? without(brokers, cause) : none }, cause)
  }
}

/** Who only hears that the producer is closed looks for the cause at the wrong place. */
const closedBefore = (problem: string): MillraceError =>
  new MillraceError('MR_CLIENT_CLOSED', { what: 'producer' }, undefined, `the producer was closed before the record was acknowledged; its last try failed: ${problem}`)

/** What went wrong at the only broker there is, without its address, which is said before; of several, which of them. */
function without(brokers: string, cause: Error): string {
  const isOfThem = isMillraceError(cause) && `${cause.details['host']}:${cause.details['port']}` === brokers
  return isOfThem ? reasonOf(cause) : cause.message
}

function addTicket(to: { flushes: FlushTicket[] | undefined }, ticket: FlushTicket): void {
  ticket.missing++
  to.flushes = [...to.flushes ?? [], ticket]
}

function failWaitingRecord(waiting: WaitingRecord, error: Error): void {
  waiting.settle(rejected(error))
  for (const ticket of waiting.flushes ?? []) {
    if (--ticket.missing === 0) ticket.done()
  }
}

/** Whoever settles with it takes the failure over; by itself it troubles nobody. */
function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject<never>(error as Error)
  promise.catch(() => undefined)
  return promise
}

/** The caller may reuse its bytes as soon as `send` has returned. */
function ownRecord(record: ProducerRecord): ProducerRecord {
  const { topic, key, value, headers, timestamp, partition } = record
  const own = {
    topic, value: ownBytes(value),
    ...(key === undefined ? {} : { key: ownBytes(key) }),
    ...(headers === undefined ? {} : { headers: headerList(topic, headers).map(header => ({ key: header.key, value: ownBytes(header.value) })) }),
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(partition === undefined ? {} : { partition }),
  }
  // For the partitioner it has what the caller's record has beside these; its names were looked at before.
  return Object.assign(Object.create(ownPrototype) as ProducerRecord, record, own)
}

const ownPrototype = Object.freeze({})

function ownBytes(bytes: Bytes): Bytes {
  return bytes instanceof Uint8Array ? bytes.slice() : bytes
}
