import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { kafkaErrorName, kafkaErrors } from '../../wire/index.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { type Coordinator } from '../cluster/coordinator.ts'
import { commitOffsets, fetchCommitted, isPassing, type CommittedOffset, type OffsetToCommit } from '../cluster/group-offsets.ts'
import { type LookupParts } from '../cluster/offset-lookup.ts'
import { pause } from '../pause.ts'
import { type MemberIdentity } from './core/member-machine.ts'
import { type TopicPartition } from './core/topic-partitions.ts'

export interface OffsetCommitParts extends LookupParts {
  readonly groupId: string
  readonly coordinator: Coordinator
  /** Who this member is at the moment. */
  readonly identity: () => MemberIdentity
  /** Whether these are all still this member's: then a commit that came with an older generation is tried with the new one. */
  readonly owns: (partitions: readonly TopicPartition[]) => boolean
}

export interface CommitWait {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Codes that say that the membership is not, or not any more, what the commit was sent with. */
const ofMembership: ReadonlySet<number> = new Set([
  kafkaErrors.REBALANCE_IN_PROGRESS, kafkaErrors.ILLEGAL_GENERATION, kafkaErrors.STALE_MEMBER_EPOCH, kafkaErrors.UNKNOWN_MEMBER_ID, kafkaErrors.FENCED_INSTANCE_ID,
  kafkaErrors.FENCED_MEMBER_EPOCH,
])
const passesWithMembership: ReadonlySet<number> = new Set([kafkaErrors.REBALANCE_IN_PROGRESS, kafkaErrors.ILLEGAL_GENERATION, kafkaErrors.STALE_MEMBER_EPOCH])

/** Commits in the order of the calls, one after another: none that is tried again comes behind a later one. */
export class OffsetCommits {
  private readonly parts: OffsetCommitParts
  private tail: Promise<unknown> = Promise.resolve()

  constructor(parts: OffsetCommitParts) {
    this.parts = parts
  }

  /** Resolves when all of it is committed. Rejects with MR_CLIENT_GROUP_COMMIT_REFUSED where the partitions are others', and as `Channel` does. */
  commit(offsets: readonly OffsetToCommit[], wait: CommitWait): Promise<void> {
    const done = this.tail.then(() => this.send(offsets, wait))
    this.tail = done.catch(() => undefined)
    return done
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.tail
  }

  /** Asks until the time is up; null asks for all. */
  fetch(partitions: readonly TopicPartition[] | null, wait: CommitWait): Promise<CommittedOffset[]> {
    if (partitions?.length === 0) return Promise.resolve([])
    const { groupId } = this.parts
    return this.until(wait, async (timeoutMs) => fetchCommitted(await this.channel(timeoutMs, wait), groupId, partitions, { timeoutMs, signal: wait.signal }))
  }

  private async send(offsets: readonly OffsetToCommit[], wait: CommitWait): Promise<void> {
    if (offsets.length === 0) return
    let open = offsets
    await this.until(wait, async (timeoutMs) => {
      const identity = this.parts.identity()
      if (identity.memberId === '' || identity.generation < 0) throw this.refused('it is no member')
      const channel = await this.channel(timeoutMs, wait)
      const refusals = await commitOffsets(channel, { groupId: this.parts.groupId, ...identity }, open, { timeoutMs, signal: wait.signal })
      open = refusals.map(({ offset }) => offset)
      for (const { offset, errorCode } of refusals) throw this.errorOf(offset, errorCode)
    })
  }

  private errorOf(offset: OffsetToCommit, errorCode: number): MillraceError {
    const { topic, partition } = offset
    if (!ofMembership.has(errorCode)) return brokerError(errorCode, { what: `committing offset ${offset.offset} of ${topic}-${partition} for group ${this.parts.groupId}`, topic, partition })
    const { generation } = this.parts.identity()
    const mayPass = passesWithMembership.has(errorCode) && generation >= 0 && this.parts.owns([offset])
    return mayPass ? new MillraceError('MR_CLIENT_BROKER_BUSY', { what: `committing for group ${this.parts.groupId}`, error: kafkaErrorName(errorCode), kafkaCode: errorCode, message: '' })
      : this.refused(kafkaErrorName(errorCode))
  }

  private refused(error: string): MillraceError {
    return new MillraceError('MR_CLIENT_GROUP_COMMIT_REFUSED', { group: this.parts.groupId, error })
  }

  private channel(timeoutMs: number, { signal }: CommitWait): ReturnType<Coordinator['channel']> {
    return this.parts.coordinator.channel('control', { timeoutMs, signal })
  }

  private async until<T>({ timeoutMs, signal }: CommitWait, work: (timeoutMs: number) => Promise<T>): Promise<T> {
    const { world, client, coordinator } = this.parts
    const deadlineMs = world.clock.monotonicMs() + timeoutMs
    for (let attempt = 1; ; attempt++) {
      const remainingMs = Math.max(1, deadlineMs - world.clock.monotonicMs())
      const pauseMs = backoffMs(attempt, client.backoff, () => world.random.fraction())
      try {
        return await work(Math.min(remainingMs, client.requestTimeoutMs))
      } catch (error) {
        if (!isRetriable(error) || signal?.aborted === true || world.clock.monotonicMs() + pauseMs >= deadlineMs) throw error
        if (meansOtherCoordinator(error)) coordinator.forget()
      }
      await pause(world.timers, pauseMs, signal)
    }
  }
}

/** A lost connection too: the broker may be gone. */
function meansOtherCoordinator(error: unknown): boolean {
  if (!isMillraceError(error, 'MR_CLIENT_BROKER_BUSY')) return true
  const code = error.details['kafkaCode']
  return code === kafkaErrors.NOT_COORDINATOR || code === kafkaErrors.COORDINATOR_NOT_AVAILABLE || (typeof code === 'number' && !isPassing(code) && code !== kafkaErrors.REBALANCE_IN_PROGRESS)
}
