import { token } from '../plugin/token.ts'

/** The peer of a request. */
export interface PeerInfo {
  /** Unique in this process. */
  readonly connectionId: number
  /** Name of the listener that it came through. */
  readonly listener: string
  /** Its address, without the port. */
  readonly host: string
  /** `User:ANONYMOUS` where nobody had to say who they are. */
  readonly principal: string
}

/** One request under way. Answering twice, or after `silence` or `abort`, is a bug (assert); no call throws otherwise, also when the peer is gone. */
export interface Exchange {
  /** Number of the API in Kafka's protocol; that of the handler. */
  readonly apiKey: number
  /** Within the versions of the handler; the answer is encoded in it. */
  readonly apiVersion: number
  /** What the client calls itself; nobody has checked it. Null where it does not say. */
  readonly clientId: string | null
  /** Who asks. */
  readonly peer: PeerInfo
  /** Name of the listener that the peer came through: answers that name addresses name those of this listener. */
  readonly listener: string
  /**
   * Answers, once. Answers leave in the order of the requests whatever the order of these calls. Byte ranges in the response belong
   * to the exchange until `released` is called, once, also when the peer is gone.
   */
  reply(response: object, released?: () => void): void
  /** Ends the exchange without an answer (Produce with acks=0). */
  silence(): void
  /** Closes the connection; for what the protocol has no answer to. */
  abort(error: unknown): void
  /**
   * Keeps the bytes of the request valid after `handle` has returned, until the exchange ends. It may put copies in the place of the request's
   * byte ranges: take them from the request again after the call.
   */
  keepBytes(): void
  /**
   * Later requests of this peer are not handled until the returned function is called: for work whose order matters. It is to be
   * called in any case, also when the peer is gone, since those requests came whole and are still handled; only not when the exchange is abandoned.
   */
  holdOthers(): () => void
  /**
   * Called once if the peer goes away before the answer, at once if it has. What the request is to change is done all the same, since it came
   * whole and nobody may send it again; only waiting for the time to answer is over. Who waited for nothing else need not end the exchange.
   */
  onGone(callback: () => void): void
  /**
   * The broker has given up what was under way, because its time for a stop was over. Work elsewhere for this request must have no effect any more
   * when it ends: kept bytes are the peer's again, logs are closed, and the exchange is not ended. True before `onGone` is called.
   */
  readonly abandoned: boolean
}

/**
 * Contribution: serves one API of the Kafka protocol. An API is advertised if, and only if, a handler for it is there, in the handler's
 * versions: a version is a promise, list it when its semantics are in.
 */
export interface ProtocolHandler {
  /** Number of the API in Kafka's protocol. */
  readonly apiKey: number
  /** Lowest version that is served. */
  readonly minVersion: number
  /** Highest version that is served, not below the lowest. */
  readonly maxVersion: number
  /**
   * Takes a decoded request of `wire/messages` (its byte ranges are valid during the call, see keepBytes). Must not block. What it throws
   * is answered with the Kafka code of the error, in the shape that the API has for errors.
   */
  handle(request: unknown, exchange: Exchange): void
  /** The response that tells of `kafkaCode` for everything in the request; undefined when the API has no such shape: the connection closes. Must not throw. */
  failure(request: unknown, kafkaCode: number, exchange: Exchange): object | undefined
  /** The broker stops: answers what waits for something that may never come. Some requests may still come after it. Must not throw. */
  stopWaiting?(): void
}
export const ProtocolHandler = token<ProtocolHandler>('ProtocolHandler', { handle: true, failure: true })

/** Gives requests to the same handlers without a socket: typed objects, no bytes encoded. */
export interface RequestDispatcher {
  /**
   * `done` is called once, never before `dispatch` has returned; with the response, or undefined where the API has none (acks=0), or the
   * error that would have closed the connection; MR_BROKER_ENDED, for good, when the broker stops or has stopped. Byte ranges of the response are valid until `release` is called, which must happen once.
   * The bytes of the request are the broker's until `done`: it writes offsets into batches.
   */
  dispatch(apiKey: number, apiVersion: number, request: object, clientId: string | null,
    done: (error: unknown, response: object | undefined, release: () => void) => void): void
  /** What is served, as ApiVersions answers it. The same for as long as the broker runs; throws nothing. */
  versions(): ReadonlyMap<number, { readonly min: number, readonly max: number }>
}
export const RequestDispatcher = token<RequestDispatcher>('RequestDispatcher', { dispatch: true, versions: true })
