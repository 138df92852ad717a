import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { type ProcessSample, type ProcessStats } from '../kernel/ports/process-stats.ts'

export class NodeProcessStats implements ProcessStats {
  // By the name of the package: how deep this module lies differs between the sources and what is built of them.
  readonly version = (createRequire(import.meta.url)('millrace/package.json') as { version: string }).version
  readonly nodeVersion = process.version

  read(): ProcessSample {
    const cpu = process.cpuUsage()
    const memory = process.memoryUsage()
    return {
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
      residentBytes: memory.rss,
      heapUsedBytes: memory.heapUsed,
      heapBytes: memory.heapTotal,
      externalBytes: memory.external,
      startedMs: performance.timeOrigin,
      loopBusySeconds: performance.eventLoopUtilization().active / 1000,
      openFiles: openFiles(),
      openFilesMax: openFilesMax(),
    }
  }
}

/** Linux lists them; the listing itself has one open. */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return undefined
  }
}

/** The soft limit: Node raises it to the hard one when it starts, and others may change it later. */
function openFilesMax(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
    return found === null ? undefined : Number(found[1])
  } catch {
    return undefined
  }
}
