import { token } from '../plugin/token.ts'
import { type Endpoint } from './network.ts'

/**
 * Something that runs. The host starts plugins in the order of their needs and stops them in reverse.
 * Bind it with the port that it makes work: `provide([LogStore, Lifecycle], …)`.
 */
export interface Lifecycle {
  /** What it needs is started. Resolves when others may use it; a rejection stops the whole start, in reverse order. */
  start(): Promise<void>
  /**
   * Nothing that needs it runs any more. Called also when `start` did not finish; must be safe to call twice. What it rejects with is told at the end of the
   * stop, and the others are stopped all the same. What takes longer than the deadline of the whole stop is not waited for (MR_HOST_STOP_TIMEOUT).
   */
  stop(): Promise<void>
}
export const Lifecycle = token<Lifecycle>('Lifecycle', { start: true, stop: true })

/** How a part of the broker is: `degraded` still serves, in part; `failed` does not, and only a new start may help. */
export interface Health {
  /** At `/healthz`, `failed` is told with 503, the others with 200. */
  readonly state: 'ok' | 'degraded' | 'failed'
  /** One sentence for an operator: what is wrong and what to do. Empty when ok. */
  readonly detail: string
}

/** Contribution: asked for `/healthz` (`failed` anywhere: 503) and `/readyz`. */
export interface HealthCheck {
  /** The part, in a word or two for an operator: `/healthz` tells it by this name. */
  readonly name: string
  /** Must answer at once, from memory, and must not throw. */
  check(): Health
}
export const HealthCheck = token<HealthCheck>('HealthCheck', { check: true })

/** Ends the broker: a broken invariant, or a failure that must not be survived. Never returns to normal work afterwards. */
export interface FatalErrors {
  /** Logs, stops what can be stopped, and ends with exit code 1. The first call counts. Returns at once and throws nothing: whoever calls must do no more of what failed. */
  fatal(error: unknown, where: string): void
}
export const FatalErrors = token<FatalErrors>('FatalErrors', { fatal: true })

/** Whether clients may be sent here; the composition root's. */
export interface BrokerState {
  /** True from when every plugin has started until the stop, or a fatal error, begins. Throws nothing. */
  ready(): boolean
}
export const BrokerState = token<BrokerState>('BrokerState', { ready: true })

/** Contribution: an address on which a plugin serves, for the ready line and for those who asked for port 0. */
export interface ServedEndpoint {
  /** What is spoken there. */
  readonly protocol: 'kafka' | 'http'
  /** Undefined until it listens. The first of several is the one that is told. Must not throw. */
  endpoint(): Endpoint | undefined
}
export const ServedEndpoint = token<ServedEndpoint>('ServedEndpoint', { endpoint: true })
