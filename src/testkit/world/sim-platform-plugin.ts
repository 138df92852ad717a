import { z } from 'zod'
import { contractVersion } from '../../kernel/plugin/contract-version.ts'
import { definePlugin, type Plugin } from '../../kernel/plugin/define-plugin.ts'
import { Clock, Random, Timers } from '../../kernel/ports/clock.ts'
import { Compression } from '../../kernel/ports/compression.ts'
import { FileSystem } from '../../kernel/ports/file-system.ts'
import { HttpServer } from '../../kernel/ports/http.ts'
import { KeyValueEngine } from '../../kernel/ports/key-value-store.ts'
import { Network } from '../../kernel/ports/network.ts'
import { PageCache } from '../../kernel/ports/page-cache.ts'
import { LogSink } from '../../kernel/ports/telemetry.ts'
import { SimCompression } from './sim-compression.ts'
import { type SimProcess } from './sim-machine.ts'

/**
 * A simulated process in the place of `nodePlatform`. Codecs are given from outside; their threads are the simulation's. A function is
 * asked each time a broker is made, so that one composition can be started again and again on one machine.
 */
export function simPlatform(given: SimProcess | (() => SimProcess), compression: Compression): Plugin {
  return definePlugin({
    name: 'platform',
    contract: contractVersion,
    summary: 'A simulated machine: virtual time, and files, sockets, HTTP and key-value stores in memory.',
    provides: [Clock, Timers, Random, FileSystem, PageCache, Network, KeyValueEngine, HttpServer, Compression, LogSink],
    config: z.object({}),
    register({ provide }) {
      const process = typeof given === 'function' ? given() : given
      provide([Clock], [], () => process.clock)
      provide([Timers], [], () => process.timers)
      provide([Random], [], () => process.random)
      provide([FileSystem, PageCache], [], () => process.files)
      provide([Network], [], () => process.network)
      provide([KeyValueEngine], [], () => process.keyValues)
      provide([HttpServer], [], () => process.http)
      provide([Compression], [], () => new SimCompression(compression, process.timers))
      provide([LogSink], [], () => ({ write: (line: string) => void process.logLines.push(line) }))
    },
  })
}
