import { type ProcessSample, type ProcessStats } from '../../../kernel/ports/process-stats.ts'
import { type Instruments } from './instruments.ts'

type Kind = 'counter' | 'gauge'

/** Names are those of Prometheus' own clients, so that dashboards for processes and for Node know them. */
const metrics: readonly (readonly [name: string, kind: Kind, help: string, value: (sample: ProcessSample) => number | undefined])[] = [
  ['process_cpu_seconds_total', 'counter', 'processor time of all threads, user and system', (sample) => sample.cpuSeconds],
  ['process_resident_memory_bytes', 'gauge', 'memory of the process that is in RAM', (sample) => sample.residentBytes],
  ['process_start_time_seconds', 'gauge', 'when the process began, seconds since 1970', (sample) => sample.startedMs / 1000],
  ['process_open_fds', 'gauge', 'open files and sockets', (sample) => sample.openFiles],
  ['process_max_fds', 'gauge', 'files and sockets that may be open at once', (sample) => sample.openFilesMax],
  ['nodejs_heap_size_used_bytes', 'gauge', 'objects on the heap, those included that nobody needs any more', (sample) => sample.heapUsedBytes],
  ['nodejs_heap_size_total_bytes', 'gauge', 'the heap', (sample) => sample.heapBytes],
  ['nodejs_external_memory_bytes', 'gauge', 'buffers and native memory outside of the heap', (sample) => sample.externalBytes],
  ['nodejs_eventloop_busy_seconds_total', 'counter', 'time that the event loop ran code; a rate near 1 means that requests queue', (sample) => sample.loopBusySeconds],
]

/** Whoever looks at all of them looks at one sample: it is taken anew once one of them is asked for a second time. */
export function addProcessMetrics(instruments: Instruments, stats: ProcessStats): void {
  let sample: ProcessSample | undefined
  let told = new Set<string>()
  const read = (name: string): ProcessSample => {
    if (sample === undefined || told.has(name)) {
      sample = stats.read()
      told = new Set()
    }
    told.add(name)
    return sample
  }
  for (const [name, kind, help, value] of metrics) {
    instruments.reading(name, kind, help, () => {
      const now = value(read(name))
      return now === undefined ? [] : now
    })
  }
  instruments.reading('millrace_build_info', 'gauge', 'always 1; its labels say which release this is, and which Node runs it', () => [
    { labels: { version: stats.version, node: stats.nodeVersion }, value: 1 },
  ])
}
