import { z } from 'zod'
import { contractVersion } from '../kernel/plugin/contract-version.ts'
import { definePlugin } from '../kernel/plugin/define-plugin.ts'
import { Clock, Random, Timers } from '../kernel/ports/clock.ts'
import { Compression } from '../kernel/ports/compression.ts'
import { FileSystem } from '../kernel/ports/file-system.ts'
import { HttpServer } from '../kernel/ports/http.ts'
import { KeyValueEngine } from '../kernel/ports/key-value-store.ts'
import { Network } from '../kernel/ports/network.ts'
import { PageCache } from '../kernel/ports/page-cache.ts'
import { ProcessStats } from '../kernel/ports/process-stats.ts'
import { LogSink } from '../kernel/ports/telemetry.ts'
import { Threads } from '../kernel/ports/threads.ts'
import { installNativeCrc32c } from './codecs/native-crc32c.ts'
import { NodeCompression } from './codecs/node-compression.ts'
import { LevelKeyValueEngine } from './level-key-value-engine.ts'
import { NodeFileSystem } from './node-file-system.ts'
import { NodeHttpServer } from './node-http-server.ts'
import { NodeNetwork } from './node-network.ts'
import { NodeProcessStats } from './node-process-stats.ts'
import { NodeThreads } from './node-threads.ts'
import { StderrLogSink } from './stderr-log-sink.ts'
import { SystemClock } from './system-clock.ts'
import { SystemRandom } from './system-random.ts'
import { SystemTimers } from './system-timers.ts'
import { VolatileKeyValueEngine } from './volatile-key-value-engine.ts'

/** The world as it is: this machine's clock, files, sockets, codecs. A test puts `simPlatform` of the testkit in its place. */
export const nodePlatform = definePlugin({
  name: 'platform',
  contract: contractVersion,
  summary: 'This machine: time, randomness, files, sockets, HTTP, LevelDB, codecs, threads and standard error.',
  provides: [Clock, Timers, Random, FileSystem, PageCache, Network, KeyValueEngine, HttpServer, Compression, LogSink, ProcessStats, Threads],
  config: z.object({
    receive: z.enum(['shared', 'chunks']).default('shared')
      .describe('How sockets receive: into memory that is used again, or into a fresh chunk each time, which costs more but uses no inside of Node.'),
    keyValue: z.enum(['level', 'volatile']).default('level')
      .describe('What stands behind KeyValueEngine: LevelDB on disk, or memory that is gone with the process.'),
  }),
  register({ provide }, config) {
    provide([Clock], [], () => new SystemClock())
    provide([Timers], [], () => new SystemTimers())
    provide([Random], [], () => new SystemRandom())
    provide([FileSystem, PageCache], [], () => new NodeFileSystem())
    provide([Network], [], () => new NodeNetwork({ receive: config.receive }))
    provide([KeyValueEngine], [], () => config.keyValue === 'level' ? new LevelKeyValueEngine() : new VolatileKeyValueEngine())
    provide([HttpServer], [], () => new NodeHttpServer())
    provide([Compression], [], () => {
      // CRC-32C is base's; whoever has native codecs has the native checksum too. Without the package base's tables stay.
      installNativeCrc32c()
      return new NodeCompression()
    })
    provide([LogSink], [], () => new StderrLogSink())
    provide([ProcessStats], [], () => new NodeProcessStats())
    provide([Threads], [], () => new NodeThreads())
  },
})
