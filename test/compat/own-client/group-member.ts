import { type Client, type GroupConsumer, type GroupOptions, type ConsumerOptions, type RebalanceListeners, type TopicPartition } from '../../../src/client/index.ts'

export type GroupProtocol = NonNullable<GroupOptions['groupProtocol']>

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

/** A member that polls until it is stopped, keeps what it reads and what happens to its partitions, and tells who waits. */
export class TestMember {
  readonly consumer: GroupConsumer
  readonly values: string[] = []
  readonly offsets: string[] = []
  /** What listeners were told: `assigned`, `revoked` or `lost` with partitions. */
  readonly told: string[] = []
  readonly has = new Set<string>()
  failure: unknown
  private readonly listeners: RebalanceListeners
  private running: Promise<void> | undefined
  private readonly stopped = new AbortController()
  private readonly waiting = new Set<() => void>()

  constructor(client: Client, options: ConsumerOptions & GroupOptions, listeners: RebalanceListeners = {}) {
    this.consumer = client.consumer({ sessionTimeoutMs: 6000, heartbeatIntervalMs: 200, ...options })
    const tell = (what: 'assigned' | 'revoked' | 'lost', partitions: readonly TopicPartition[]): void => {
      this.told.push(`${what} ${partitions.map(({ partition }) => partition).sort().join()}`)
      for (const each of partitions) {
        if (what === 'assigned') this.has.add(keyOf(each))
        else this.has.delete(keyOf(each))
      }
      this.changed()
    }
    this.listeners = {
      onAssigned: async (partitions) => { await listeners.onAssigned?.(partitions); tell('assigned', partitions) },
      onRevoked: async (partitions) => { await listeners.onRevoked?.(partitions); tell('revoked', partitions) },
      onLost: async (partitions) => { await listeners.onLost?.(partitions); tell('lost', partitions) },
    }
  }

  /** Subscribes and polls on. What `poll` rejects with ends it, and is in `failure`. */
  run(topics: Parameters<GroupConsumer['subscribe']>[0], each?: (value: string) => void | Promise<void>): this {
    this.consumer.subscribe(topics, this.listeners)
    const loop = async (): Promise<void> => {
      while (!this.stopped.signal.aborted) {
        const records = await this.consumer.poll({ signal: this.stopped.signal, maxRecords: 20 })
        for (const record of records) {
          await each?.(record.text()!)
          this.values.push(record.text()!)
          this.offsets.push(`${record.topic}/${record.partition}/${record.offset}`)
        }
        this.changed()
      }
    }
    this.running = loop().catch((error: unknown) => {
      if (!this.stopped.signal.aborted) this.failure = error
      this.changed()
    })
    return this
  }

  subscribeOnly(topics: Parameters<GroupConsumer['subscribe']>[0]): this {
    this.consumer.subscribe(topics, this.listeners)
    return this
  }

  /** Stops polling and keeps the membership. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await this.running
  }

  async close(options: Parameters<GroupConsumer['close']>[0] = {}): Promise<void> {
    await this.stop()
    await this.consumer.close(options)
  }

  /** Resolves when `isSo`, which is looked at whenever something has changed; rejects with a failure of `poll`. */
  until(isSo: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
    return untilAll([this], isSo, what, timeoutMs)
  }

  watch(look: () => void): () => void {
    this.waiting.add(look)
    return () => { this.waiting.delete(look) }
  }

  private changed(): void {
    for (const look of [...this.waiting]) look()
  }
}

/** As `TestMember.until`, over several members. */
export function untilAll(members: readonly TestMember[], isSo: () => boolean, what: string, timeoutMs = 30_000): Promise<void> {
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = []
    const end = (): void => {
      clearTimeout(timer)
      for (const each of undo) each()
    }
    const look = (): void => {
      const failed = members.find(({ failure }) => failure !== undefined)
      if (failed !== undefined) {
        end()
        reject(failed.failure as Error)
      } else if (isSo()) {
        end()
        resolve()
      }
    }
    const timer = setTimeout(() => {
      end()
      reject(new Error(`${what}: not within ${timeoutMs} ms; ${members.map(({ has, values, consumer, told }) => `${[...has].join(' ')} (${values.length} values, ${consumer.groupMembership().phase}, ${told.join('; ')})`).join(' | ')}`))
    }, timeoutMs)
    for (const member of members) undo.push(member.watch(look))
    look()
  })
}
