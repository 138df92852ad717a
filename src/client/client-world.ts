import { type Clock, type Random, type Timers } from '../kernel/ports/clock.ts'
import { type Compression } from '../kernel/ports/compression.ts'
import { type Hashing } from '../kernel/ports/hashing.ts'
import { type Network } from '../kernel/ports/network.ts'
import { type Threads } from '../kernel/ports/threads.ts'
import { type Logger } from '../kernel/ports/telemetry.ts'

/** All that a client knows of the machine it runs on. `index.ts` gives the real one, tests and simulations their own. */
export interface ClientWorld {
  /** For deadlines and for ages of what is known. */
  readonly clock: Clock
  /** For deadlines, waits and intervals. */
  readonly timers: Timers
  /** For jitter, and for nonces of SCRAM. */
  readonly random: Random
  /** Not used for brokers that are reached in process. */
  readonly network: Network
  /** For batches that are sent and read. */
  readonly compression: Compression
  /** For SCRAM. */
  readonly hashing: Hashing
  /** Without it, heartbeats come from the event loop alone. */
  readonly threads?: Threads
  /** Told of what a client does about trouble, e.g. reconnecting. Without it nothing is logged. */
  readonly logger?: Logger
}
