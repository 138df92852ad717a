import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type CommittedOffset, type UntoldOffset } from '../cluster/group-offsets.ts'
import { type AssignedPartition, type Start } from '../consumer/assigned-partition.ts'
import { pause } from '../pause.ts'
import { keyOf, type TopicPartition } from './core/topic-partitions.ts'
import { type GroupSettings } from './group-settings.ts'
import { type OffsetCommits } from './offset-commits.ts'
import { type TakenOffsets } from './taken-offsets.ts'

export interface PartitionStartsParts {
  readonly world: ClientWorld
  readonly client: ClientSettings
  readonly group: GroupSettings
  readonly partitions: ReadonlyMap<string, AssignedPartition>
  readonly commits: OffsetCommits
  readonly taken: TakenOffsets
  /** Whether the group still counts on this member. */
  readonly isMember: () => boolean
  /** Partitions came to have a start. */
  readonly onStarted: () => void
  /** Why partitions have none; once for each time that it was asked for. */
  readonly onRefused: (error: MillraceError) => void
  readonly signal: AbortSignal
}

/** What was found out of partitions: where the group goes on, or why that is not known. */
export interface FoundStarts {
  readonly committed: readonly CommittedOffset[]
  readonly untold: readonly UntoldOffset[]
}

/**
 * Finds out where a member begins in its partitions. Where the coordinator refuses to tell, the partition is not read, the application is told with each `poll` that
 * comes after another attempt, and it is asked again: somebody may grant what lacks. Nothing of it is committed meanwhile. Who seeks there needs no answer.
 */
export class PartitionStarts {
  private readonly parts: PartitionStartsParts
  private isRetrying = false

  constructor(parts: PartitionStartsParts) {
    this.parts = parts
  }

  /** All in one request. Waits for as long as it takes and the member is one. Never rejects. */
  async find(partitions: readonly TopicPartition[]): Promise<FoundStarts | undefined> {
    const { commits, client, isMember, signal } = this.parts
    for (;;) {
      try {
        const untold: UntoldOffset[] = []
        return { committed: await commits.fetch(partitions, { timeoutMs: client.requestTimeoutMs, signal }, untold), untold }
      } catch (error) {
        if (signal.aborted || !isMember()) return undefined
        if (isMillraceError(error) && error.row.retriable) continue
        return { committed: [], untold: partitions.map(({ topic, partition }) => ({ topic, partition, error: error as MillraceError })) }
      }
    }
  }

  /** These are assigned now. */
  begin(partitions: readonly TopicPartition[], found: FoundStarts): void {
    const { world } = this.parts
    this.settle(partitions, found)
    const [first] = found.untold
    if (first === undefined) return
    world.logger?.warn('the offsets that the group has committed are not told, and these partitions not read; it is tried again', { partitions: found.untold.map(keyOf).join(', '), error: first.error })
    this.parts.onRefused(first.error)
    void this.retry()
  }

  private async retry(): Promise<void> {
    const { world, client, signal, onStarted, onRefused } = this.parts
    if (this.isRetrying) return
    this.isRetrying = true
    for (let attempt = 1; this.waiting.length > 0 && !signal.aborted; attempt++) {
      await pause(world.timers, backoffMs(attempt, client.backoff, () => world.random.fraction()), signal).catch(() => undefined)
      const { waiting } = this
      const found = waiting.length === 0 ? undefined : await this.find(waiting)
      if (found === undefined || signal.aborted) continue
      this.settle(waiting.filter(each => this.assigned(each)?.awaitsStart === true), found)
      const [first] = found.untold.filter(each => this.assigned(each)?.awaitsStart === true)
      if (first !== undefined) onRefused(first.error)
      if (found.committed.length > 0 || found.untold.length < waiting.length) onStarted()
    }
    this.isRetrying = false
  }

  private get waiting(): TopicPartition[] {
    return [...this.parts.partitions.values()].filter(({ awaitsStart }) => awaitsStart).map(({ topic, partition }) => ({ topic, partition }))
  }

  private settle(partitions: readonly TopicPartition[], { committed, untold }: FoundStarts): void {
    const { group, taken } = this.parts
    const offsets = new Map(committed.map(each => [keyOf(each), each]))
    const errors = new Map(untold.map(each => [keyOf(each), each.error]))
    for (const each of partitions) {
      const assigned = this.assigned(each)
      if (assigned === undefined) continue
      const { topic, partition } = assigned
      const error = errors.get(keyOf(each))
      const { offset = -1, leaderEpoch = -1 } = offsets.get(keyOf(each)) ?? {}
      if (error === undefined) assigned.seek(offset >= 0 ? offset : this.resetStart(), offset >= 0 ? leaderEpoch : -1)
      if (error !== undefined) {
        assigned.fail(error)
        assigned.awaitsStart = true
      } else if (offset < 0 && group.offsetReset === 'error') assigned.fail(new MillraceError('MR_CLIENT_GROUP_NO_OFFSET', { group: group.groupId, topic, partition }))
    }
    const keys = new Set(partitions.map(keyOf))
    taken.wasCommitted(committed.filter(each => each.offset >= 0 && keys.has(keyOf(each))))
  }

  private assigned(each: TopicPartition): AssignedPartition | undefined {
    return this.parts.partitions.get(keyOf(each))
  }

  private resetStart(): Start {
    const { group: { offsetReset }, world } = this.parts
    if (typeof offsetReset === 'object') return { timestamp: Math.max(0, world.clock.wallMs() - offsetReset.durationMs) }
    return offsetReset === 'latest' ? 'end' : 'beginning'
  }
}
