import { describe, expect, it } from 'vitest'
import { createHost } from '../../../../src/kernel/plugin/plugin-host.ts'
import { Metrics } from '../../../../src/kernel/ports/telemetry.ts'
import { type ProcessSample, type ProcessStats } from '../../../../src/kernel/ports/process-stats.ts'
import { AdminRoute } from '../../../../src/kernel/ports/http.ts'
import { nodePlatform } from '../../../../src/platform/node-platform-plugin.ts'
import { NodeProcessStats } from '../../../../src/platform/node-process-stats.ts'
import { Instruments } from '../../../../src/plugins/observability/core/instruments.ts'
import { addProcessMetrics } from '../../../../src/plugins/observability/core/process-metrics.ts'
import { plugin } from '../../../../src/plugins/observability/index.ts'

const sample: ProcessSample = {
  cpuSeconds: 1.5, residentBytes: 70e6, heapUsedBytes: 10e6, heapBytes: 12e6, externalBytes: 3e6, startedMs: 1_700_000_000_000, loopBusySeconds: 0.25, openFiles: 21, openFilesMax: 1024,
}

class FixedStats implements ProcessStats {
  readonly version = '9.8.7'
  readonly nodeVersion = 'v99.0.0'
  reads = 0
  openFiles: number | undefined = 21

  read(): ProcessSample {
    this.reads += 1
    return { ...sample, openFiles: this.openFiles, cpuSeconds: this.reads }
  }
}

const valuesOf = (instruments: Instruments): Record<string, unknown> =>
  Object.fromEntries(instruments.families().map(({ name, kind, samples }) => [name, [kind, ...samples().map(({ value }) => value)]]))

describe('metrics of the process', () => {
  it('are told under the names that dashboards know, one sample for each look', () => {
    const [instruments, stats] = [new Instruments(), new FixedStats()]
    addProcessMetrics(instruments, stats)
    expect(valuesOf(instruments)).toEqual({
      millrace_build_info: ['gauge', 1],
      nodejs_eventloop_busy_seconds_total: ['counter', 0.25],
      nodejs_external_memory_bytes: ['gauge', 3e6],
      nodejs_heap_size_total_bytes: ['gauge', 12e6],
      nodejs_heap_size_used_bytes: ['gauge', 10e6],
      process_cpu_seconds_total: ['counter', 1],
      process_max_fds: ['gauge', 1024],
      process_open_fds: ['gauge', 21],
      process_resident_memory_bytes: ['gauge', 70e6],
      process_start_time_seconds: ['gauge', 1_700_000_000],
    })
    valuesOf(instruments)
    expect(stats.reads).toBe(2)
    expect(instruments.families().find(({ name }) => name === 'millrace_build_info')!.samples()[0]!.labels).toEqual({ version: '9.8.7', node: 'v99.0.0' })
  })

  it('leave out what the system does not tell', () => {
    const [instruments, stats] = [new Instruments(), new FixedStats()]
    stats.openFiles = undefined
    addProcessMetrics(instruments, stats)
    expect(valuesOf(instruments)).toMatchObject({ process_open_fds: ['gauge'], process_resident_memory_bytes: ['gauge', 70e6] })
  })

  it('of this process are those of this process, and stand in what Prometheus scrapes', async () => {
    const stats = new NodeProcessStats()
    const [before, after] = [stats.read(), stats.read()]
    expect(after.cpuSeconds).toBeGreaterThanOrEqual(before.cpuSeconds)
    expect(after.residentBytes).toBeGreaterThan(after.heapUsedBytes)
    expect(after.startedMs).toBeLessThan(Date.now())
    const host = createHost({ plugins: [nodePlatform, plugin], settings: { observability: { logLevel: 'silent' } } })
    expect(host.get(Metrics)).toBeTypeOf('object')
    const route = host.all(AdminRoute).find(({ path }) => path === '/metrics')!
    const { body } = await route.handle({} as never)
    expect(String(body)).toMatch(/^# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes \d{7,}$/m)
    expect(String(body)).toMatch(new RegExp(`^millrace_build_info\\{version="\\d+\\.\\d+\\.\\d+",node="${process.version}"\\} 1$`, 'm'))
  })
})
