import { type deleteGroupsApi } from '../../../wire/messages/42-delete-groups.ts'
import { type describeGroupsApi } from '../../../wire/messages/15-describe-groups.ts'
import { type joinGroupApi } from '../../../wire/messages/11-join-group.ts'
import { type leaveGroupApi } from '../../../wire/messages/13-leave-group.ts'
import { type listGroupsApi } from '../../../wire/messages/16-list-groups.ts'
import { type offsetDeleteApi } from '../../../wire/messages/47-offset-delete.ts'
import { type syncGroupApi } from '../../../wire/messages/14-sync-group.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { type MemberProtocol } from './classic-group.ts'
import { type ConsumerCommand, type ConsumerReplies, type ConsumerRules } from './consumer/consumer-commands.ts'

/** What a member says of itself in every request. */
export interface MemberClaim {
  readonly memberId: string
  readonly instanceId: string | null
}

export interface JoinCommand extends MemberClaim {
  readonly type: 'join'
  readonly groupId: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly protocolType: string
  readonly protocols: readonly MemberProtocol[]
  readonly clientId: string
  readonly clientHost: string
  /** A member without an id gets this one. */
  readonly freshMemberId: string
  /** v4 and later: a dynamic member has to come again with its id (KIP-394). */
  readonly idFirst: boolean
  /** v9 and later: a leader may be told to assign nothing (KIP-814). */
  readonly maySkip: boolean
  readonly reason: string | null
}

export interface SyncCommand extends MemberClaim {
  readonly type: 'sync'
  readonly groupId: string
  readonly generation: number
  /** Null in older versions, and not looked at then. */
  readonly protocolType: string | null
  readonly protocol: string | null
  readonly assignments: ReadonlyMap<string, Uint8Array>
}

export interface HeartbeatCommand extends MemberClaim {
  readonly type: 'heartbeat'
  readonly groupId: string
  readonly generation: number
}

export interface LeaveCommand {
  readonly type: 'leave'
  readonly groupId: string
  readonly members: readonly (MemberClaim & { readonly reason: string | null })[]
}

export interface OffsetToCommit {
  readonly topic: string
  readonly topicId: string
  readonly partition: number
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
}

export interface CommitCommand extends MemberClaim {
  readonly type: 'commit'
  readonly groupId: string
  /** -1 of somebody who is in no group. */
  readonly generation: number
  /** Of requests up to v4: the offsets expire by themselves. -1: as the broker has it. */
  readonly retentionMs: number
  readonly offsets: readonly OffsetToCommit[]
  /** v9 and later know codes for epochs, and for groups that are not there. */
  readonly knowsEpochs: boolean
}

export interface FetchCommand {
  readonly type: 'fetch'
  readonly groupId: string
  /** Of a member of the consumer protocol; null and -1 of an operator, and in versions before 9. */
  readonly memberId: string | null
  readonly epoch: number
  /** Undefined: all that are committed. */
  readonly wanted: readonly { readonly topic: string, readonly partitions: readonly number[] }[] | undefined
}

export interface DeleteOffsetsCommand {
  readonly type: 'deleteOffsets'
  readonly groupId: string
  readonly topics: readonly { readonly name: string, readonly partitions: readonly number[] }[]
}

export type GroupCommand =
  | ConsumerCommand
  | JoinCommand | SyncCommand | HeartbeatCommand | LeaveCommand | CommitCommand | FetchCommand | DeleteOffsetsCommand
  | { readonly type: 'describe', readonly groupId: string }
  | { readonly type: 'list', readonly states: readonly string[], readonly types: readonly string[] }
  | { readonly type: 'delete', readonly groupId: string }
  /** Topics are gone: their offsets go with them, in turns. */
  | { readonly type: 'topicsDeleted', readonly topics: ReadonlySet<string> }

export interface FetchedOffset {
  readonly topic: string
  /** Of the topic when it was committed; zero where that is not known. */
  readonly topicId: string
  readonly partition: number
  /** -1: none is committed. */
  readonly offset: number
  readonly leaderEpoch: number
  readonly metadata: string
}

export interface GroupReplies extends ConsumerReplies {
  readonly join: ResponseDraftOf<typeof joinGroupApi>
  readonly sync: ResponseDraftOf<typeof syncGroupApi>
  readonly heartbeat: { readonly errorCode: number }
  readonly leave: ResponseDraftOf<typeof leaveGroupApi>
  /** A code for each offset, in their order. */
  readonly commit: readonly number[]
  readonly fetch: { readonly errorCode: number, readonly offsets: readonly FetchedOffset[] }
  readonly deleteOffsets: ResponseDraftOf<typeof offsetDeleteApi>
  readonly describe: ResponseDraftOf<typeof describeGroupsApi>['groups'][number]
  readonly list: ResponseDraftOf<typeof listGroupsApi>['groups']
  readonly delete: ResponseDraftOf<typeof deleteGroupsApi>['results'][number]
  readonly topicsDeleted: { readonly begun: true }
}

export type GroupReply = GroupReplies[keyof GroupReplies]
export type ReplyTo<C extends GroupCommand> = GroupReplies[C['type']]

/** The broker's settings about groups; times in milliseconds. */
export interface GroupRules {
  readonly initialRebalanceDelayMs: number
  readonly sessionTimeoutMinMs: number
  readonly sessionTimeoutMaxMs: number
  /** Most members of a group. */
  readonly groupSizeMax: number
  readonly offsetMetadataBytesMax: number
  readonly offsetsRetentionMs: number
  readonly retentionCheckIntervalMs: number
  readonly consumer: ConsumerRules
}
