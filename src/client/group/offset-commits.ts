import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { kafkaErrorName, kafkaErrors } from '../../wire/index.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { type Coordinator } from '../cluster/coordinator.ts'
import { commitOffsets, fetchCommitted, isPassing, type CommittedOffset, type OffsetToCommit, type UntoldOffset } from '../cluster/group-offsets.ts'
import { type LookupParts } from '../cluster/offset-lookup.ts'
import { pause } from '../pause.ts'
import { type MemberIdentity } from './core/member-machine.ts'
import { keyOf, type TopicPartition } from './core/topic-partitions.ts'

export interface OffsetCommitParts extends LookupParts {
  readonly groupId: string
  readonly coordinator: Coordinator
  /** Who this member is at the moment. */
  readonly identity: () => MemberIdentity
  /** Whether these are all this member's, as far as it knows. */
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

/** A commit that is not done. */
interface Pending {
  open: readonly OffsetToCommit[]
  /** What others may have read on from by now. */
  gone: readonly OffsetToCommit[]
}

/** Commits in the order of the calls, one after another: none that is tried again comes behind a later one. */
export class OffsetCommits {
  private readonly parts: OffsetCommitParts
  private readonly pending = new Set<Pending>()
  private tail: Promise<unknown> = Promise.resolve()

  constructor(parts: OffsetCommitParts) {
    this.parts = parts
  }

  /**
   * Resolves when all of it is committed. Rejects with MR_CLIENT_GROUP_COMMIT_REFUSED where partitions are others', when those that are not are committed, and as
   * `Channel` does.
   */
  commit(offsets: readonly OffsetToCommit[], wait: CommitWait): Promise<void> {
    const pending: Pending = { open: offsets, gone: [] }
    this.pending.add(pending)
    this.dropOthers(pending)
    const done = this.tail.then(() => this.send(pending, wait)).finally(() => { this.pending.delete(pending) })
    this.tail = done.catch(() => undefined)
    return done
  }

  /** These are not this member's any more. What is under way of them is refused, also if it is given them again: others may have been there in between. */
  givenUp(partitions: readonly TopicPartition[]): void {
    const keys = new Set(partitions.map(keyOf))
    for (const pending of this.pending) drop(pending, each => keys.has(keyOf(each)))
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.tail
  }

  /** Asks until the time is up. What refuses single partitions goes to `untold`; without that it rejects. */
  fetch(partitions: readonly TopicPartition[], wait: CommitWait, untold?: UntoldOffset[]): Promise<CommittedOffset[]> {
    if (partitions.length === 0) return Promise.resolve([])
    const { groupId } = this.parts
    return this.until(wait, async (timeoutMs) => fetchCommitted(await this.channel(timeoutMs, wait), groupId, partitions, { timeoutMs, signal: wait.signal }, untold))
  }

  private async send(pending: Pending, wait: CommitWait): Promise<void> {
    await this.until(wait, async (timeoutMs) => {
      this.refuseOthers(pending)
      if (pending.open.length === 0) return
      const channel = await this.channel(timeoutMs, wait)
      // The member may be another by now, with other partitions.
      this.refuseOthers(pending)
      if (pending.open.length === 0) return
      const refusals = await commitOffsets(channel, { groupId: this.parts.groupId, ...this.parts.identity() }, pending.open, { timeoutMs, signal: wait.signal })
      const left = new Set(refusals.map(({ offset }) => offset))
      pending.open = pending.open.filter(each => left.has(each))
      for (const { offset, errorCode } of refusals) throw this.errorOf(offset, errorCode)
    })
    const [other] = pending.gone
    if (other !== undefined) throw this.refused(`${other.topic}-${other.partition} is not this member's`)
  }

  /** Throws where it is no member at all. */
  private refuseOthers(pending: Pending): void {
    const { memberId, generation } = this.parts.identity()
    if (pending.open.length > 0 && (memberId === '' || generation < 0)) throw this.refused('it is no member')
    this.dropOthers(pending)
  }

  private dropOthers(pending: Pending): void {
    if (!this.parts.owns(pending.open)) drop(pending, each => !this.parts.owns([each]))
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

function drop(pending: Pending, isGone: (each: OffsetToCommit) => boolean): void {
  const gone = pending.open.filter(isGone)
  if (gone.length === 0) return
  pending.gone = [...pending.gone, ...gone]
  pending.open = pending.open.filter(each => !gone.includes(each))
}

/** A lost connection too: the broker may be gone. */
function meansOtherCoordinator(error: unknown): boolean {
  if (!isMillraceError(error, 'MR_CLIENT_BROKER_BUSY')) return true
  const code = error.details['kafkaCode']
  return code === kafkaErrors.NOT_COORDINATOR || code === kafkaErrors.COORDINATOR_NOT_AVAILABLE || (typeof code === 'number' && !isPassing(code) && code !== kafkaErrors.REBALANCE_IN_PROGRESS)
}
