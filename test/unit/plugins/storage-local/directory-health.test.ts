import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { observeDirectories, observeDisks } from '../../../../src/plugins/storage-local/metrics.ts'
import { fill, newLog } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { RecordingMetrics } from '../../../../src/testkit/world/recording-telemetry.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { type GaugeSample } from '../../../../src/kernel/ports/telemetry.ts'
import { makeStore } from './store-subjects.ts'

async function twoDirectories() {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const made = makeStore({ files, timers, directories: ['/data', '/data2'] })
  await made.store.start()
  const metrics = new RecordingMetrics()
  observeDirectories(metrics, () => made.store.directories())
  observeDisks(metrics, () => made.store.directories())
  const values = (name: string) => Object.fromEntries((metrics.value(name) as readonly GaugeSample[]).map(({ labels, value }) => [labels.path, value]))
  return { ...made, files, values }
}

describe('the health and the gauges of data directories', () => {
  it('are ok while all serve, degraded when one of two is offline, failed when both are, and name directory and reason', async () => {
    const { store, files, values, fatalErrors } = await twoDirectories()
    const [first, second] = [newLog({ store }), newLog({ store })]
    fill(first, 3)
    fill(second, 3)
    await store.flush()
    expect(store.check()).toEqual({ state: 'ok', detail: '' })
    expect(values('millrace_log_directory_online')).toEqual({ '/data': 1, '/data2': 1 })
    expect(values('millrace_log_directory_partitions')).toEqual({ '/data': 1, '/data2': 1 })
    expect(values('millrace_log_directory_bytes')).toEqual({ '/data': first.sizeBytes, '/data2': second.sizeBytes })
    files.faults.add({ operation: 'write', path: /^\/data2\//, error: 'EIO' })
    expect(() => fill(second, 1)).toThrow('/data2')
    expect(store.check()).toEqual({ state: 'degraded', detail: expect.stringMatching(/1 of 2 .*\/data2 since .*EIO/) })
    expect(values('millrace_log_directory_online')).toEqual({ '/data': 1, '/data2': 0 })
    expect(fatalErrors).toEqual([])
    files.faults.add({ operation: 'write', path: /^\/data\//, error: 'EIO' })
    expect(() => fill(first, 1)).toThrow('/data')
    expect(store.check()).toEqual({ state: 'failed', detail: expect.stringContaining('2 of 2') })
    expect(values('millrace_log_directory_online')).toEqual({ '/data': 0, '/data2': 0 })
    expect(fatalErrors).toHaveLength(1)
    await store.stop()
  })

  it('tell what is free on the disk of each directory in service, and what it has in all, as it is now', async () => {
    const { store, files, values } = await twoDirectories()
    files.resize(50_000_000)
    const free = values('millrace_log_directory_disk_free_bytes')
    expect(free).toEqual({ '/data': free['/data2'], '/data2': files.space('/').freeBytes })
    expect(values('millrace_log_directory_disk_total_bytes')).toEqual({ '/data': 50_000_000, '/data2': 50_000_000 })
    files.open('/data/other', 'create').write([new Uint8Array(1_000_000)], 0)
    expect(values('millrace_log_directory_disk_free_bytes')['/data2']).toBe(free['/data2']! - 1_000_000)
    const { space } = files
    files.space = path => {
      if (path === '/data') throw new MillraceError('MR_FILE_FAILED', { operation: 'space', path, reason: 'EIO' })
      return space.call(files, path)
    }
    expect(Object.keys(values('millrace_log_directory_disk_total_bytes'))).toEqual(['/data2'])
    expect(store.check().state).toBe('ok')
    const [, second] = [newLog({ store }), newLog({ store })]
    files.faults.add({ operation: 'write', path: /^\/data2\//, error: 'EIO' })
    expect(() => fill(second, 1)).toThrow('/data2')
    expect(values('millrace_log_directory_disk_free_bytes')).toEqual({})
    await store.stop()
  })
})
