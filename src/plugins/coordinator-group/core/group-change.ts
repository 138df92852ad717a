import { type ClassicGroup } from './classic-group.ts'
import { type ConsumerGroup } from './consumer/consumer-group.ts'
import { type WalkPlace } from './offset-walk.ts'

/** What is true until the next load, and written nowhere. */
export type GroupChange =
  /** The group as it is now. `reason`: of a rebalance that has begun. `event`: what an operator may want to know besides. */
  | { readonly type: 'group', readonly group: ClassicGroup, readonly reason: string, readonly event: 'stable' | 'emptied' | undefined }
  | { readonly type: 'consumer', readonly group: ConsumerGroup, readonly reason: string, readonly event: 'stable' | 'emptied' | undefined }
  | { readonly type: 'consumerHeard', readonly groupId: string, readonly memberId: string, readonly sessionDeadlineMs: number }
  | { readonly type: 'heard', readonly groupId: string, readonly memberId: string, readonly deadlineMs: number }
  /** Where the look for expired offsets stands, and when it goes on; it begins anew where there is no place. */
  | { readonly type: 'expiry', readonly place: WalkPlace | undefined, readonly atMs: number }
  | { readonly type: 'deletion', readonly deletion: TopicDeletion | undefined }

/** Topics that are gone, and whose offsets go in turns. Replaced, never changed. */
export interface TopicDeletion {
  readonly topics: ReadonlySet<string>
  readonly place: WalkPlace
  /** Topics that went meanwhile: their turn comes behind. */
  readonly waiting: ReadonlySet<string>
  /** When it goes on. */
  readonly atMs: number
}

/** Told of what an operator may want to know. Must not throw. */
export interface GroupObserver {
  rebalancing(group: ClassicGroup | ConsumerGroup, reason: string): void
  stable(group: ClassicGroup | ConsumerGroup): void
  emptied(group: ClassicGroup | ConsumerGroup): void
}
