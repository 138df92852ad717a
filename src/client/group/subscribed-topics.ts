import { backoffMs } from '../../base/backoff.ts'
import { zeroUuid } from '../../base/uuid.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { metadataApi, type MetadataResponse, type RequestDraftOf } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { isRetriable } from '../client-error.ts'
import { type LookupParts } from '../cluster/offset-lookup.ts'
import { pause } from '../pause.ts'
import { type TopicKnown, type TopicsKnown } from './core/member-machine.ts'

export interface SubscribedTopicsParts extends LookupParts {
  /** With `isLearned` it answers `learn`. */
  readonly onTopics: (topics: TopicsKnown, isLearned: boolean) => void
  /** The topics that the pattern matches, first and whenever they are others. */
  readonly onMatched: (names: readonly string[]) => void
  readonly onFailed: (error: unknown) => void
}

/** Keeps what is known of the topics of a group's member: those that it is subscribed to, by name or pattern, and those of others that it shares out. */
export class SubscribedTopics {
  private readonly parts: SubscribedTopicsParts
  private readonly unlisten: () => void
  private readonly abort = new AbortController()
  private subscribed = new Set<string>()
  /** Topics of other members, and those that the coordinator has assigned by id. */
  private learned = new Set<string>()
  /** What the coordinator has assigned, and the names of it that were found out. */
  private assignedIds: ReadonlySet<string> = new Set()
  private readonly nameOf = new Map<string, string>()
  private isIdentifying = false
  private pattern: RegExp | undefined
  private timer: Timer | undefined
  private told = ''

  constructor(parts: SubscribedTopicsParts) {
    this.parts = parts
    this.unlisten = parts.metadata.onChange(() => { this.tell(false) })
  }

  /** These and no others. */
  subscribe(names: readonly string[]): void {
    this.pattern = undefined
    this.timer?.cancel()
    this.replace('subscribed', names)
  }

  /** All that the pattern matches, and looks for more as often as metadata is asked for. Topics of the cluster itself are left out. */
  subscribePattern(pattern: RegExp): void {
    // One that remembers where it was would match every other time.
    this.pattern = new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, ''))
    this.replace('subscribed', [])
    void this.match(this.pattern, 1)
  }

  /** Waits until something is known of each of these, if only that it is not there. Never rejects. */
  async learn(names: readonly string[]): Promise<void> {
    const { metadata, client } = this.parts
    this.replace('learned', names.filter(name => !this.subscribed.has(name)))
    const look = (): true | undefined => names.every(name => metadata.topic(name) !== undefined || metadata.topicError(name) !== undefined) ? true : undefined
    try {
      await metadata.waitFor(look, { timeoutMs: client.requestTimeoutMs, signal: this.abort.signal, late: () => new Error('late') })
    } catch (error) {
      if (this.abort.signal.aborted) return
      if (isMillraceError(error) && !isRetriable(error)) {
        this.parts.onFailed(error)
        return
      }
    }
    this.tell(true)
  }

  /** These topics and no others beside the subscription: the coordinator has told their ids alone. Brokers are asked for the names until all are found. */
  learnIds(topicIds: readonly string[]): void {
    this.assignedIds = new Set(topicIds)
    for (const topicId of this.nameOf.keys()) if (!this.assignedIds.has(topicId)) this.nameOf.delete(topicId)
    this.replaceAssigned()
    void this.identify()
  }

  /** Nothing is read any more. */
  clear(): void {
    this.subscribe([])
    this.learnIds([])
  }

  close(): void {
    this.abort.abort(new Error('closed'))
    this.timer?.cancel()
    this.unlisten()
    this.clear()
  }

  /** A broker may be asked that has not heard of a topic yet. Never rejects. */
  private async identify(): Promise<void> {
    const { world, client } = this.parts
    const { signal } = this.abort
    if (this.isIdentifying) return
    this.isIdentifying = true
    for (let attempt = 1; this.unnamed.length > 0 && !signal.aborted; attempt++) {
      const topics = await this.asked(this.unnamed.map(topicId => ({ topicId, name: null })), 12)
      if (topics === 'refused') break
      for (const { topicId, name } of topics ?? []) if (this.assignedIds.has(topicId)) this.nameOf.set(topicId, name!)
      this.replaceAssigned()
      if (this.unnamed.length > 0) await pause(world.timers, backoffMs(attempt, client.backoff, () => world.random.fraction()), signal).catch(() => undefined)
    }
    this.isIdentifying = false
  }

  /** Ids of which there is no name yet. */
  private get unnamed(): string[] {
    const { metadata } = this.parts
    const known = new Set([...this.subscribed].map(name => metadata.topic(name)?.id))
    return [...this.assignedIds].filter(topicId => !this.nameOf.has(topicId) && !known.has(topicId))
  }

  private replaceAssigned(): void {
    this.replace('learned', [...this.nameOf.values()].filter(name => !this.subscribed.has(name)))
    this.tell(false)
  }

  private async match(pattern: RegExp, attempt: number): Promise<void> {
    const { world, client } = this.parts
    const answer = await this.asked(null, 1)
    const topics = answer === 'refused' ? undefined : answer
    if (this.pattern !== pattern || this.abort.signal.aborted) return
    if (topics !== undefined) {
      const names = topics.filter(topic => !topic.isInternal && pattern.test(topic.name!)).map(({ name }) => name!).sort()
      if (attempt === 1 || names.length !== this.subscribed.size || names.some(name => !this.subscribed.has(name))) {
        this.replace('subscribed', names)
        this.parts.onMatched(names)
      }
    }
    const pauseMs = topics === undefined ? backoffMs(attempt, client.backoff, () => world.random.fraction()) : client.metadataAgeMsMax
    this.timer = world.timers.after(pauseMs, () => { void this.match(pattern, topics === undefined && this.subscribed.size === 0 ? 1 : attempt + 1) })
  }

  /** Of those topics, or of all, what is there. Undefined where nobody could be asked; the membership is over where it is refused for good. */
  private async asked(wanted: RequestDraftOf<typeof metadataApi>['topics'], oldest: number): Promise<MetadataResponse['topics'] | 'refused' | undefined> {
    const { pool, client } = this.parts
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const response = await call(pool.anyChannel(attempt), metadataApi, () => ({ topics: wanted, allowAutoTopicCreation: false }), {
          timeoutMs: client.requestTimeoutMs, oldest, signal: this.abort.signal,
        })
        return response.topics.filter(({ name, partitions }) => name !== null && partitions.length > 0)
      } catch (error) {
        if (this.abort.signal.aborted) return undefined
        if (!isMillraceError(error) || isRetriable(error)) continue
        this.parts.onFailed(error)
        return 'refused'
      }
    }
    return undefined
  }

  private replace(kind: 'subscribed' | 'learned', names: readonly string[]): void {
    const before = this[kind]
    this[kind] = new Set(names)
    for (const name of this[kind]) if (!before.has(name)) this.parts.metadata.track(name, false)
    for (const name of before) if (!this[kind].has(name)) this.parts.metadata.untrack(name)
  }

  private tell(isLearned: boolean): void {
    const known = new Map<string, TopicKnown>()
    for (const name of [...this.subscribed, ...this.learned]) {
      const info = this.parts.metadata.topic(name)
      if (info !== undefined) known.set(name, { partitions: info.partitions.length, topicId: info.id === zeroUuid ? '' : info.id })
    }
    const text = [...known].map(([name, { partitions, topicId }]) => `${name} ${partitions} ${topicId}`).sort().join('\n')
    if (text === this.told && !isLearned) return
    this.told = text
    this.parts.onTopics(known, isLearned)
  }
}
