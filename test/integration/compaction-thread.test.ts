import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'
import { LogCompaction, LogStore } from '../../src/kernel/index.ts'
import { NodeThreads } from '../../src/platform/node-threads.ts'
import { recordsFrom } from './compacted-topic.ts'

const data = mkdtempSync(join(tmpdir(), 'millrace-thread-'))
afterAll(() => {
  vi.restoreAllMocks()
  rmSync(data, { recursive: true, force: true })
})

describe('a table of some MiB on disk', () => {
  it('is compacted in a thread of Node, and the last record of each key is left', async () => {
    const start = vi.spyOn(NodeThreads.prototype, 'start')
    const broker = await createTestBroker({ preset: 'single-node', data, broker: { 'log.cleaner.enable': 'false' } })
    const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
    try {
      await client.admin().createTopics([{ name: 'table', partitions: 1, configs: { 'cleanup.policy': 'compact', 'segment.bytes': String(1 << 20), 'min.cleanable.dirty.ratio': '0.01' } }])
      const producer = client.producer({ batchBytesMax: 65_536 })
      const count = 4000
      for (let index = 0; index < count; index++) void producer.send({ topic: 'table', partition: 0, key: `key ${index % 500}`, value: `${index} ${'.'.repeat(1000)}` })
      await producer.flush()
      await broker.port(LogStore).flush()
      // What is closed is compacted when it is known to be on the disk, which takes a while.
      let found = await recordsFrom(broker, 'table', 0, count - 1)
      for (; found.length > count / 2; found = await recordsFrom(broker, 'table', 0, count - 1)) {
        expect((await broker.port(LogCompaction).compact()).logsFailed).toBe(0)
      }
      expect(start).toHaveBeenCalled()
      const last = new Map(found.map(({ key, value }) => [key, Number(value!.split(' ')[0])]))
      expect([...last.values()].sort((left, right) => left - right)).toEqual(Array.from({ length: 500 }, (_, index) => count - 500 + index))
      expect(found.every(({ offset, key, value }) => key === `key ${offset % 500}` && value!.startsWith(`${offset} `))).toBe(true)
    } finally {
      await client.close()
      await broker.stop()
    }
  }, 60_000)
})
