import { isMillraceError } from '../../kernel/errors/index.ts'
import { unknownName } from '../arguments.ts'
import { settingError } from '../client-options.ts'
import { type PollOptions } from '../consumer/consumer.ts'
import { type ConsumerRecord } from '../consumer/consumer-record.ts'
import { isPromise } from './serde.ts'
import { isTypedTopic, type AnyTypedTopic, type RecordOf } from './typed-topic.ts'
import { isUndecodable, type UndecodableRecordError } from './undecodable-record.ts'

/** What a typed consumer needs of a consumer. */
export interface RecordSourceToDecode extends AsyncIterable<ConsumerRecord> {
  poll(options?: PollOptions): Promise<ConsumerRecord[]>
  seek(where: { readonly topic: string, readonly partition: number, readonly offset: number }): void
}

/** What becomes of records that cannot be decoded. */
export interface TypedConsumerOptions {
  /**
   * Called with each record that cannot be decoded. When it has returned (a promise is awaited), reading goes on behind the record; when it throws, reading stops
   * before it. Without it, reading stops before such a record until somebody seeks past it. Not called for what passes, such as a registry that cannot be reached.
   */
  readonly onUndecodable?: (error: UndecodableRecordError) => unknown
}

type Outcome<T extends AnyTypedTopic> = { readonly record: RecordOf<T> } | { readonly error: unknown } | 'passed over'

/**
 * Gives what a consumer reads, decoded. Assign, seek, pause and close the consumer itself, between polls; whoever polls it there takes records away from here.
 *
 * A record that cannot be decoded stops its partition: what came before it is given first, then the poll, or the loop, fails with
 * MR_CLIENT_RECORD_UNDECODABLE, and the consumer stands at that record again. Polling on fails again, while other partitions go on; seek to its offset plus
 * one to leave it behind. Nothing is passed over unless `onUndecodable` has seen it.
 */
export class TypedConsumer<T extends AnyTypedTopic> implements AsyncIterable<RecordOf<T>> {
  private readonly consumer: RecordSourceToDecode
  private readonly topics: ReadonlyMap<string, T>
  private readonly onUndecodable: TypedConsumerOptions['onUndecodable']
  /** Told by the next poll: what came before the record went to the application first. */
  private failure: { readonly error: unknown } | undefined

  constructor(consumer: RecordSourceToDecode, topics: readonly T[], options: TypedConsumerOptions = {}) {
    this.consumer = consumer
    this.topics = new Map(topics.map(each => [each.name, each]))
    this.onUndecodable = options.onUndecodable
  }

  /**
   * As the consumer's `poll`. May be empty before `timeoutMs` is up when `onUndecodable` has taken all that came. Rejects with MR_CLIENT_RECORD_UNDECODABLE, with
   * what a serde says of the world (MR_REGISTRY_UNAVAILABLE: poll again), MR_CLIENT_SETTING for a record of a topic that it was not given, and what the
   * consumer rejects with.
   */
  async poll(options?: PollOptions): Promise<RecordOf<T>[]> {
    this.throwFailure()
    const decoded: RecordOf<T>[] = []
    const stopped = new Set<string>()
    for (const raw of await this.consumer.poll(options)) {
      const partition = `${raw.topic}/${raw.partition}`
      if (stopped.has(partition)) continue
      const given = this.attempt(raw)
      const outcome = isPromise(given) ? await given : given
      if (outcome === 'passed over') continue
      if ('record' in outcome) {
        decoded.push(outcome.record)
        continue
      }
      stopped.add(partition)
      this.goBackTo(raw)
      this.failure ??= outcome
    }
    if (decoded.length === 0) this.throwFailure()
    return decoded
  }

  /** Record by record, as the consumer's own loop: leaving it loses nothing. Ends when the consumer is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RecordOf<T>, void, undefined> {
    let bad: { readonly raw: ConsumerRecord, readonly error: unknown } | undefined
    this.throwFailure()
    for await (const raw of this.consumer) {
      const given = this.attempt(raw)
      const outcome = isPromise(given) ? await given : given
      if (outcome === 'passed over') continue
      if ('error' in outcome) {
        bad = { raw, error: outcome.error }
        break
      }
      yield outcome.record
    }
    if (bad === undefined) return
    // The consumer has gone back to what comes behind it.
    this.goBackTo(bad.raw)
    throw bad.error
  }

  private throwFailure(): void {
    const { failure } = this
    this.failure = undefined
    if (failure !== undefined) throw failure.error
  }

  private attempt(raw: ConsumerRecord): Outcome<T> | Promise<Outcome<T>> {
    const topic = this.topics.get(raw.topic)
    if (topic === undefined) return { error: settingError('typedConsumer', `it read a record of ${raw.topic}, and was given ${[...this.topics.keys()].join(', ')}; give it that topic too, with bytes() if need be`) }
    try {
      const record = topic.decode(raw)
      if (!isPromise(record)) return { record: record as RecordOf<T> }
      return record.then(late => ({ record: late as RecordOf<T> }), (error: unknown) => this.failed(error))
    } catch (error) {
      return this.failed(error)
    }
  }

  private async failed(error: unknown): Promise<Outcome<T>> {
    if (this.onUndecodable === undefined || !isUndecodable(error)) return { error }
    try {
      await this.onUndecodable(error)
      return 'passed over'
    } catch (refusal) {
      return { error: refusal }
    }
  }

  private goBackTo({ topic, partition, offset }: ConsumerRecord): void {
    try {
      this.consumer.seek({ topic, partition, offset })
    } catch (error) {
      // A partition that is not assigned any more is somebody else's to read, from where it was committed.
      if (!isMillraceError(error, 'MR_CLIENT_SETTING') && !isMillraceError(error, 'MR_CLIENT_CLOSED')) throw error
    }
  }
}

/** A consumer's records, decoded by the topics that are given: one, or several. Throws MR_CLIENT_SETTING. */
export function typedConsumer<const T extends AnyTypedTopic>(consumer: RecordSourceToDecode, topics: T | readonly T[], options: TypedConsumerOptions = {}): TypedConsumer<T> {
  const all: readonly T[] = Array.isArray(topics) ? topics as readonly T[] : [topics as T]
  if (all.length === 0 || !all.every(isTypedTopic)) throw settingError('typedConsumer', 'it takes a consumer and a topic that topic() made, or several in an array')
  const unknown = unknownName(options, ['onUndecodable'])
  if (unknown !== undefined) throw settingError('typedConsumer', unknown)
  return new TypedConsumer(consumer, all, options)
}
