import { type MillraceError } from '../../../kernel/errors/index.ts'
import {
  type consumerGroupHeartbeatApi, type heartbeatApi, type joinGroupApi, type leaveGroupApi, type RequestDraftOf, type ResponseOf, type syncGroupApi,
} from '../../../wire/index.ts'
import { type TopicPartition } from './topic-partitions.ts'

/** What is asked of the coordinator. The draft is of the newest version; who sends it leaves out what an older one does not have. */
export type GroupRequest =
  | { readonly kind: 'join', readonly draft: RequestDraftOf<typeof joinGroupApi> }
  | { readonly kind: 'sync', readonly draft: RequestDraftOf<typeof syncGroupApi> }
  | { readonly kind: 'heartbeat', readonly draft: RequestDraftOf<typeof heartbeatApi> }
  | { readonly kind: 'leave', readonly draft: RequestDraftOf<typeof leaveGroupApi> }
  | { readonly kind: 'consumerHeartbeat', readonly draft: RequestDraftOf<typeof consumerGroupHeartbeatApi> }

export type GroupResponse<K extends GroupRequest['kind']> = ResponseOf<{
  readonly join: typeof joinGroupApi, readonly sync: typeof syncGroupApi, readonly heartbeat: typeof heartbeatApi, readonly leave: typeof leaveGroupApi,
  readonly consumerHeartbeat: typeof consumerGroupHeartbeatApi
}[K]>

export type GroupAnswer = { readonly [K in GroupRequest['kind']]: { readonly kind: K, readonly response: GroupResponse<K> } }[GroupRequest['kind']]

/** What is known of a topic. */
export interface TopicKnown {
  readonly partitions: number
  readonly topicId: string
}

export type TopicsKnown = ReadonlyMap<string, TopicKnown>

export interface Subscription {
  readonly topics: readonly string[]
  /** RE2 text that the coordinator matches itself; the consumer protocol alone. */
  readonly regex?: string | undefined
}

/**
 * What happens to a member. `id` is that of the `send` that is answered.
 * - `subscribe`: what the application wants to read; joins with the next `polling`
 * - `topics`: what is known of the topics of the subscription. With `isLearned` it answers `learn`: it speaks of those asked for, too, and those that are
 *   missing do not exist
 * - `polling`, `polled`: the application has come to `poll`, and has been given something to do
 * - `worked`: the `work` last asked for is done
 * - `tick`: time has passed; due at `dueMs`
 * - `beaten`: what somebody was answered who has heartbeat in this member's place, in the consumer protocol
 * - `expired`: somebody who watched while nobody here could has found the application stuck, and left for it
 * - `rejoin`: the application wants a rebalance
 * - `leave`: for good, or until the next `subscribe`. Without `tells` the coordinator is not told: a static member that comes back
 */
export type MemberEvent =
  | { readonly type: 'subscribe', readonly subscription: Subscription }
  | { readonly type: 'topics', readonly topics: TopicsKnown, readonly isLearned?: boolean }
  | { readonly type: 'polling' }
  | { readonly type: 'polled' }
  | { readonly type: 'answered', readonly id: number, readonly answer: GroupAnswer }
  | { readonly type: 'unanswered', readonly id: number, readonly error: MillraceError }
  | { readonly type: 'worked' }
  | { readonly type: 'tick' }
  | { readonly type: 'beaten', readonly response: GroupResponse<'consumerHeartbeat'> }
  | { readonly type: 'expired' }
  | { readonly type: 'rejoin', readonly reason: string }
  | { readonly type: 'leave', readonly tells: boolean }

/**
 * What the application has to know of.
 * - `revoke`: these go to others, and are still this member's until `worked`: the last moment to commit
 * - `lost`: these are others' already; asked for when the application polls or leaves, as the others are
 * - `assign`: these are new
 */
export interface GroupWork {
  readonly kind: 'revoke' | 'lost' | 'assign'
  readonly partitions: readonly TopicPartition[]
}

/**
 * What a member wants done, in this order. Of work there is one piece at a time.
 * - `send`: to the coordinator, after a pause that grows with `attempt` (0: now). Answered once, with `answered` or `unanswered`. Of each kind of request
 *   one is under way at a time; answers to older ids are not waited for
 * - `forgetCoordinator`: another broker coordinates the group, or none can be reached
 * - `learn`, `learnIds`: say with `topics` what is known of these topics too, from now on and until the next time; of ids that nobody knows yet, as soon
 *   as somebody does
 * - `tell`: to the application with its next `poll`, once
 * - `fail`: the membership is over, and why; until the next `subscribe`
 * - `left`: the answer to `leave`
 */
export type MemberEffect =
  | { readonly type: 'send', readonly id: number, readonly request: GroupRequest, readonly attempt: number }
  | { readonly type: 'forgetCoordinator' }
  | { readonly type: 'work', readonly work: GroupWork }
  | { readonly type: 'learn', readonly topics: readonly string[] }
  | { readonly type: 'learnIds', readonly topicIds: readonly string[] }
  | { readonly type: 'tell', readonly error: MillraceError }
  | { readonly type: 'fail', readonly error: MillraceError }
  | { readonly type: 'warn', readonly message: string, readonly error?: MillraceError }
  | { readonly type: 'left' }

/** Who this is to the coordinator. */
export interface MemberIdentity {
  readonly memberId: string
  /** Of the classic protocol; the member epoch in the consumer protocol. -1: no member. */
  readonly generation: number
  readonly instanceId: string | null
}

export interface MemberSettings {
  readonly groupId: string
  readonly instanceId: string | null
  readonly rack: string | null
  readonly sessionTimeoutMs: number
  readonly heartbeatIntervalMs: number
  /** How long the application may do without `poll`; also how long others wait for it in a rebalance. */
  readonly pollIntervalMsMax: number
}

/**
 * One member of a group: a pure machine. It is told what happens and says what is to be done; it has no clock, no chance and no network of its own.
 */
export interface MemberMachine {
  readonly identity: MemberIdentity
  /** What this member has, with what it is about to be given and without what it has given up. */
  readonly owned: readonly TopicPartition[]
  /** For people: `joining`, `stable` and so on. */
  readonly phase: string
  /** Whether it goes on only when the application polls. */
  readonly waitsForPoll: boolean
  /** When to `tick`; Infinity for never. */
  readonly dueMs: number
  step(event: MemberEvent, nowMs: number): readonly MemberEffect[]
}
