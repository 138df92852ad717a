import { type Deferred, deferred } from '../../base/deferred.ts'
import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type Clock, type Timers } from '../../kernel/ports/clock.ts'
import { type Deadlines } from './deadlines.ts'
import { type ProtocolMetrics } from './metrics.ts'
import { type TopicLookup } from './topic-lookup.ts'

/** What the handlers and the server of this plugin share. A handler of another plugin needs none of it. */
export class ServingTools {
  readonly clock: Clock
  readonly timers: Timers
  readonly deadlines: Deadlines
  readonly metrics: ProtocolMetrics
  readonly topics: TopicLookup
  /** -1 until the broker is registered. */
  brokerEpoch = -1
  private readonly stopCallbacks: (() => void)[] = []
  /** Who waits for the logs of a topic. */
  private readonly waiting = new Set<Deferred<void>>()

  constructor(parts: Pick<ServingTools, 'clock' | 'timers' | 'deadlines' | 'metrics' | 'topics'>) {
    this.clock = parts.clock
    this.timers = parts.timers
    this.deadlines = parts.deadlines
    this.metrics = parts.metrics
    this.topics = parts.topics
  }

  registered(brokerEpoch: number): void {
    this.brokerEpoch = brokerEpoch
  }

  /** See `Replicator.made`. Rejects with MR_CLUSTER_STOPPED already when this plugin stops. */
  made(topicId: Uuid): Promise<void> {
    const waiter = deferred()
    this.waiting.add(waiter)
    this.topics.made(topicId).then(waiter.resolve, waiter.reject).finally(() => { this.waiting.delete(waiter) })
    return waiter.promise
  }

  /** What the controller agrees on: `done` gets each when there is nothing more to wait for, at once where it was refused or is `validateOnly`. Rejects where one is not made. */
  async followMade<T extends { readonly id: Uuid, readonly name: string, readonly error?: unknown }>(agree: () => Promise<readonly T[]>, validateOnly: boolean, done: Map<string, T>): Promise<void> {
    await Promise.all((await agree()).map(async (topic) => {
      if (topic.error === undefined && !validateOnly) await this.made(topic.id)
      done.set(topic.name, topic)
    }))
  }

  /** At a stop, requests that wait for something that may never come are answered as they stand. */
  onStopWaiting(callback: () => void): void {
    this.stopCallbacks.push(callback)
  }

  stopWaiting(): void {
    for (const callback of this.stopCallbacks) callback()
    for (const waiter of this.waiting) waiter.reject(new MillraceError('MR_CLUSTER_STOPPED'))
  }

  stop(): void {
    this.topics.stop()
    this.deadlines.stop()
  }
}
