import { createTopicsApi, describeGroupsApi, findCoordinatorApi, kafkaErrors, listOffsetsApi, metadataApi, type Api } from '../../../src/wire/index.ts'
import { type DraftOfFields, type Fields, type ValueOf } from '../../../src/wire/schema/definition.ts'
import { Exchange, type NoAnswer } from './exchange.ts'
import { Normalizer, type Plain } from './normalize.ts'

/** A conversation that is held with two brokers, once in each version of its API. */
export interface Scenario {
  readonly name: string
  readonly api: Pick<Api, 'key' | 'name'>
  readonly versions: readonly [min: number, max: number]
  run (talk: Talk, version: number): Promise<void>
}

export function scenario (
  api: Pick<Api, 'key' | 'name'>, name: string, versions: readonly [number, number], run: Scenario['run'],
): Scenario {
  return { api, name, versions, run }
}

/** What one broker said, by step. */
export type Observation = Map<string, Plain>

const READY_ATTEMPTS = 200

/** One broker's side of a conversation; every answer is noted under its step. */
export class Talk {
  readonly observed: Observation
  readonly #bootstrap: string
  readonly #prefix: string
  readonly #normalizer: Normalizer
  readonly #others: Talk[] = []
  #exchange: Exchange | undefined

  constructor (bootstrap: string, prefix: string, observed: Observation = new Map(), normalizer = new Normalizer()) {
    this.#bootstrap = bootstrap
    this.#prefix = prefix
    this.observed = observed
    this.#normalizer = normalizer
  }

  /** The same conversation over a connection of its own, for who waits while others speak. */
  beside (): Talk {
    const other = new Talk(this.#bootstrap, this.#prefix, this.observed, this.#normalizer)
    this.#others.push(other)
    return other
  }

  /** A name of a topic, or a group, of this conversation alone, the same on both brokers. */
  topic (label: string): string {
    return `${this.#prefix}-${label}`
  }

  note (step: string, value: unknown): void {
    this.observed.set(step, this.#normalizer.plain(value))
  }

  /** Asks, and notes the answer, or what `view` makes of it. Opens a new connection where the last one was closed. */
  async ask<Q extends Fields, S extends Fields> (
    step: string, api: Api<Q, S>, version: number, request: DraftOfFields<Q>, view: (answer: ValueOf<S>) => unknown = answer => answer,
  ): Promise<ValueOf<S> | NoAnswer> {
    const answer = await this.quietly(api, version, request)
    this.note(step, typeof answer === 'string' ? answer : view(answer))
    return answer
  }

  /** Asks and notes nothing. Asks again while the broker says that it is loading what it needs. */
  async quietly<Q extends Fields, S extends Fields> (api: Api<Q, S>, version: number, request: DraftOfFields<Q>): Promise<ValueOf<S> | NoAnswer> {
    for (let attempt = 0; ; attempt++) {
      this.#exchange ??= await Exchange.open(this.#bootstrap)
      const answer = await this.#exchange.ask(api, version, request)
      if (typeof answer === 'string') this.hangUp()
      const loading = (answer as { errorCode?: number }).errorCode === kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS
      if (!loading || attempt >= READY_ATTEMPTS) return answer
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  /** Sends bytes on a connection of their own and notes what `view` makes of the frame that comes back. */
  async raw (step: string, bytes: Uint8Array, view: (frame: Buffer) => unknown = frame => frame.toString('hex')): Promise<void> {
    const exchange = await Exchange.open(this.#bootstrap)
    const frame = await exchange.send(bytes)
    this.note(step, typeof frame === 'string' ? frame : view(frame))
    exchange.close()
  }

  /** Creates a topic and waits until all of its partitions have a leader. Notes nothing. */
  async create (label: string, partitions = 1, configs: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = this.topic(label)
    await this.quietly(createTopicsApi, 7, {
      topics: [{
        name, numPartitions: partitions, replicationFactor: 1, assignments: [],
        configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
      }],
      timeoutMs: 10_000,
    })
    // Metadata names leaders before they lead: a leader that lists offsets has its log
    for (let attempt = 0; attempt < READY_ATTEMPTS; attempt++) {
      const answer = await this.quietly(listOffsetsApi, 2, {
        replicaId: -1, topics: [{ name, partitions: Array.from({ length: partitions }, (_, i) => ({ partitionIndex: i, timestamp: -1 })) }],
      })
      if (typeof answer !== 'string' && answer.topics[0]?.partitions.every(p => p.errorCode === 0)) return name
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    throw new Error(`topic ${name} has no leaders`)
  }

  /** Waits until the broker coordinates all groups: the first who asks for a coordinator makes it begin. Notes nothing. */
  async coordinate (): Promise<void> {
    const groups = Array.from({ length: 100 }, (_, i) => `${this.#prefix}-${i}`)
    for (let attempt = 0; attempt < READY_ATTEMPTS; attempt++) {
      await this.quietly(findCoordinatorApi, 3, { key: groups[0]!, keyType: 0 })
      const answer = await this.quietly(describeGroupsApi, 0, { groups })
      if (typeof answer !== 'string' && answer.groups.every(group => group.errorCode === 0)) return
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    throw new Error('the broker does not coordinate groups')
  }

  /** The id that the broker gave to a topic. */
  async topicId (name: string): Promise<string> {
    const answer = await this.quietly(metadataApi, 12, { topics: [{ name }], allowAutoTopicCreation: false })
    if (typeof answer === 'string') throw new Error(`no metadata of ${name}: ${answer}`)
    return answer.topics[0]!.topicId
  }

  hangUp (): void {
    for (const other of this.#others) other.hangUp()
    this.#exchange?.close()
    this.#exchange = undefined
  }
}
