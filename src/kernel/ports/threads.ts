import { token } from '../plugin/token.ts'

/** A thread that was started. */
export interface Thread {
  /** Gives it a message: what structured cloning can copy, or shares. Throws where it cannot. In the order of the calls. */
  post(message: object): void
  /** Ends it as it is. A second call, or one after its end, is fine; throws nothing. */
  stop(): void
}

/** Threads beside this one, each with an event loop of its own. Not for simulated worlds: what they do happens at its own time. */
export interface Threads {
  /** Runs a module of this package. It does not keep the process alive. `onMessage` is given what it says; `onEnd` is called once, also when it could not be started, which is never thrown. */
  start(module: URL, onMessage: (message: object) => void, onEnd: (error?: unknown) => void): Thread
}
export const Threads = token<Threads>('Threads', { start: true })
