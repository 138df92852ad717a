import { type consumerGroupDescribeApi } from '../../../../wire/messages/69-consumer-group-describe.ts'
import { type consumerGroupHeartbeatApi } from '../../../../wire/messages/68-consumer-group-heartbeat.ts'
import { type ResponseDraftOf } from '../../../../wire/schema/message.ts'
import { type Assigned } from './assigned.ts'

/** ConsumerGroupHeartbeat. Null says: as before (quirk 55). */
export interface ConsumerHeartbeatCommand {
  readonly type: 'consumerHeartbeat'
  readonly groupId: string
  readonly memberId: string
  /** 0 joins, -1 leaves, -2 leaves for a while. */
  readonly epoch: number
  readonly instanceId: string | null
  readonly rackId: string | null
  /** -1: as before. */
  readonly rebalanceTimeoutMs: number
  /** In order, without repetitions. */
  readonly topics: readonly string[] | null
  /** One that can be compiled; empty: none any more. */
  readonly pattern: string | null
  readonly serverAssignor: string | null
  readonly owned: Assigned | null
  readonly clientId: string
  readonly clientHost: string
}

/** What a pattern stands for has been looked up. */
export interface PatternResolvedCommand {
  readonly type: 'patternResolved'
  readonly groupId: string
  readonly pattern: string
  /** In order. */
  readonly topics: readonly string[]
  /** Of the directory when the look began. */
  readonly version: number
}

export type ConsumerCommand =
  | ConsumerHeartbeatCommand | PatternResolvedCommand
  | { readonly type: 'consumerDescribe', readonly groupId: string }

export interface ConsumerReplies {
  readonly consumerHeartbeat: {
    readonly response: ResponseDraftOf<typeof consumerGroupHeartbeatApi>
    /** A pattern of the member that is to be looked up (again). */
    readonly unresolved: string | undefined
  }
  readonly patternResolved: { readonly used: boolean }
  readonly consumerDescribe: ResponseDraftOf<typeof consumerGroupDescribeApi>['groups'][number]
}

/** The broker's settings about groups of the consumer protocol; times in milliseconds. */
export interface ConsumerRules {
  readonly sessionTimeoutMs: number
  readonly heartbeatIntervalMs: number
  /** Most members of a group. */
  readonly groupSizeMax: number
  /** By name, the default one first. */
  readonly assignors: readonly string[]
  readonly assignmentIntervalMs: number
  readonly regexRefreshIntervalMs: number
  readonly canUpgrade: boolean
  readonly canDowngrade: boolean
}
