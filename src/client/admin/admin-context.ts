import { type RequestDraftOf, type ResponseOf } from '../../wire/index.ts'
import { type AnyApi } from '../channel/channel.ts'
import { type Coordinator } from '../cluster/coordinator.ts'
import { type LookupParts } from '../cluster/offset-lookup.ts'

/** What bounds a call of an admin. */
export interface AdminOptions {
  /** For the whole call, retries included. Default: the client's `requestTimeoutMs`. */
  readonly timeoutMs?: number
  /** Ends the call, which rejects with its reason; what a broker was asked for already may be done all the same. */
  readonly signal?: AbortSignal
}

/** Whom to ask: the controller, a named broker, the coordinator of a group, or anybody. */
export type Whom = 'controller' | 'anybody' | { readonly nodeId: number } | { readonly coordinator: Coordinator }

/** What the functions of this room work with. */
export interface AdminContext extends LookupParts {
  /**
   * Sends a request, again while `take` or the way there fails with something that passes, until the time is up. `take` turns the answer into the result
   * or throws.
   */
  ask<A extends AnyApi, T>(
    whom: Whom, api: A, build: (version: number) => RequestDraftOf<A>, take: (response: ResponseOf<A>) => T,
    options: AdminOptions & { readonly oldest?: number, readonly newest?: number },
  ): Promise<T>
}
