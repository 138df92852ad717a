import { type HttpClient } from '../kernel/ports/http.ts'
import { NodeCompression } from '../platform/codecs/node-compression.ts'
import { installNativeCrc32c } from '../platform/codecs/native-crc32c.ts'
import { FetchHttpClient } from '../platform/fetch-http-client.ts'
import { installedPackage } from '../platform/installed-package.ts'
import { NodeHashing } from '../platform/node-hashing.ts'
import { NodeNetwork } from '../platform/node-network.ts'
import { NodeThreads } from '../platform/node-threads.ts'
import { SystemClock } from '../platform/system-clock.ts'
import { SystemRandom } from '../platform/system-random.ts'
import { SystemTimers } from '../platform/system-timers.ts'
import { type ClientWorld } from './client-world.ts'

export interface Machine extends ClientWorld {
  readonly http: HttpClient
  /** A package that is not a dependency of this one. Throws the loader's error. */
  readonly installedPackage: (name: string) => unknown
}

let machine: Machine | undefined

/** The machine, made when it is first asked for: an import costs nothing. */
export function thisMachine(): Machine {
  if (machine === undefined) {
    installNativeCrc32c()
    machine = {
      clock: new SystemClock(), timers: new SystemTimers(), random: new SystemRandom(), network: new NodeNetwork(), compression: new NodeCompression(),
      hashing: new NodeHashing(), http: new FetchHttpClient(), installedPackage, threads: new NodeThreads(),
    }
  }
  return machine
}
