import { type ClassicGroup } from './classic-group.ts'
import { type ConsumerGroup } from './consumer/consumer-group.ts'

/** What is true until the next load, and written nowhere. */
export type GroupChange =
  /** The group as it is now. `reason`: of a rebalance that has begun. `event`: what an operator may want to know besides. */
  | { readonly type: 'group', readonly group: ClassicGroup, readonly reason: string, readonly event: 'stable' | 'emptied' | undefined }
  | { readonly type: 'consumer', readonly group: ConsumerGroup, readonly reason: string, readonly event: 'stable' | 'emptied' | undefined }
  | { readonly type: 'consumerHeard', readonly groupId: string, readonly memberId: string, readonly sessionDeadlineMs: number }
  | { readonly type: 'heard', readonly groupId: string, readonly memberId: string, readonly deadlineMs: number }
  /** Groups that are still to be looked at for expired offsets, and when. */
  | { readonly type: 'expiry', readonly groupIds: readonly string[], readonly atMs: number }

/** Told of what an operator may want to know. Must not throw. */
export interface GroupObserver {
  rebalancing(group: ClassicGroup | ConsumerGroup, reason: string): void
  stable(group: ClassicGroup | ConsumerGroup): void
  emptied(group: ClassicGroup | ConsumerGroup): void
}
