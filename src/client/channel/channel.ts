import { type Api, type RequestDraftOf, type ResponseOf } from '../../wire/index.ts'

/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- any API will do, and variance forbids a narrower word */
export type AnyApi = Api<any, any>

export interface SendOptions {
  /** After so long without an answer the call fails with MR_CLIENT_REQUEST_TIMEOUT. */
  readonly timeoutMs: number
  /** False for Produce with acks=0: `done` comes when the request is on its way, without a response. Default true. */
  readonly answered?: boolean
  /** Whether byte ranges of the response are the caller's for good. Otherwise they are valid only during `done`. Default false. */
  readonly keepBytes?: boolean
}

/** Called once for each `send`, never before it has returned. The error is a MillraceError. */
export type SendDone<A> = (error: unknown, response: ResponseOf<A> | undefined) => void

/**
 * A way to one broker. Requests are handled, and answered, in the order in which they were sent. There are two kinds: a network connection, and
 * the handlers of a broker in this process; what is above cannot tell them apart.
 */
export interface Channel {
  /** Whether `send` may be called, and `version` knows the broker. */
  readonly isOpen: boolean
  /** Requests sent and not answered. */
  readonly inFlight: number
  /**
   * Opens the channel if it is not open; `opened` is called once, later or at once, with the error if that failed. After failures it waits before
   * it tries: a caller may simply ask again.
   */
  open(opened: (error?: unknown) => void): void
  /** The newest version of an API that both sides know, and no newer than `newest`; undefined when there is none. Only while open. */
  version(api: AnyApi, newest?: number): number | undefined
  /**
   * Sends a request of a version that `version` allows. Its bytes are the channel's until `done`: a broker in this process writes offsets into
   * batches. When the channel is not open, or closes under way, `done` comes with MR_CLIENT_DISCONNECTED. Throws for a request that cannot be
   * written, and has then sent nothing.
   */
  send<A extends AnyApi>(api: A, version: number, request: RequestDraftOf<A>, options: SendOptions, done: SendDone<A>): void
  /** Ends it for good. What was under way fails. */
  close(): void
}
