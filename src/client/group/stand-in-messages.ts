import { type Endpoint } from '../../kernel/ports/network.ts'
import { type ClientSettings } from '../client-options.ts'
import { type GroupResponse } from './core/member-machine.ts'

/** A member that somebody else shall heartbeat for while its own event loop does not turn. */
export interface WatchedMember {
  readonly id: number
  readonly protocol: 'classic' | 'consumer'
  readonly groupId: string
  readonly memberId: string
  readonly generation: number
  readonly instanceId: string | null
  readonly intervalMs: number
  readonly pollIntervalMsMax: number
  readonly endpoint: Endpoint
  readonly client: ClientSettings
  readonly signs: Int32Array
}

export type ToStandIn = { readonly type: 'watch', readonly member: WatchedMember } | { readonly type: 'unwatch', readonly id: number }

/**
 * `beaten`: the coordinator's answer to a heartbeat of the consumer protocol, which may hold an assignment. `expired`: the application was stuck for too long,
 * and the group has been told that the member left.
 */
export type FromStandIn =
  | { readonly type: 'beaten', readonly id: number, readonly response: GroupResponse<'consumerHeartbeat'> }
  | { readonly type: 'expired', readonly id: number }

/** Places in `signs`, which both threads see at once. */
export const signs = {
  /** Grows whenever the event loop of the member turns for it. */
  alive: 0,
  /** Grows with each poll, and at its end. */
  polls: 1,
  /** 1 while the application is in `poll`. */
  isInPoll: 2,
  /** How many messages the other side has sent of this member. */
  messages: 3,
  /** The generation of the member that the other side watches; 0 while it watches none. */
  watching: 4,
} as const
export const signCount = 5
