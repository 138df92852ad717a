import { BatchBuilder } from '../../../src/kernel/record/batch-builder.ts'
import { type CompressionCodec } from '../../../src/kernel/record/compression-codec.ts'
import { append } from '../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { makeStore } from '../../unit/plugins/storage-local/store-subjects.ts'
import { compression } from './batch-grammar.ts'

export type ImageName = 'stopped' | 'killed'

/** A data directory as a store left it, and what is in its logs. */
export interface StoreImage {
  readonly name: ImageName
  readonly files: MemoryFileSystem
  readonly timers: ManualTimers
  readonly paths: readonly string[]
  /** By topic: its batches in order. */
  readonly logs: ReadonlyMap<string, readonly StoredBatch[]>
}

export interface StoredBatch {
  readonly baseOffset: number
  readonly bytes: Uint8Array
}

export const dataDirectory = '/data'
export const logSettings = topicSettings({ segmentBytes: 1500, indexIntervalBytes: 150, retentionMs: -1, retentionBytes: -1 })
export const storeConfig = { residentBytes: 500, reserveBytes: 4096 }
const logs = [{ topic: 'plain', batches: 24 }, { topic: 'compressed', batches: 12 }, { topic: 'empty', batches: 0 }]

/** Two logs of several segments, epochs and producers, and an empty one; stopped in order, or killed with half of it not checkpointed. */
export async function makeStoreImage(name: ImageName): Promise<StoreImage> {
  const timers = new ManualTimers()
  const files = new MemoryFileSystem({ clock: timers.clock })
  const { store } = makeStore({ files, timers, config: storeConfig })
  await store.start()
  const content = new Map<string, StoredBatch[]>()
  for (const [index, { topic, batches }] of logs.entries()) {
    const log = store.create({ topic, topicId: Buffer.alloc(16, index + 65).toString('base64url'), partition: 0 }, logSettings)
    const stored: StoredBatch[] = []
    content.set(topic, stored)
    for (let count = 0; count < batches; count++) {
      const bytes = batchOf(topic, count)
      const { baseOffset } = append(log, bytes, Math.floor(count / 8))
      stored.push({ baseOffset, bytes: bytes.slice() })
      if (count === batches >> 1) await store.flush()
    }
    log.raiseHighWatermark(log.endOffset)
  }
  await store.flush()
  if (name === 'stopped') await store.stop()
  else timers.advance(61_000)
  const left = files.afterCrash({ keepUnsynced: 'all' })
  if (name === 'killed') await store.stop()
  return { name, files: left, timers, paths: pathsIn(left, dataDirectory).sort(), logs: content }
}

function batchOf(topic: string, count: number): Uint8Array {
  const builder = new BatchBuilder(compression)
  for (let index = 0; index <= count % 3; index++) {
    builder.append(1000 + count * 10, Buffer.from(`key ${count % 5}`), Buffer.from(`${topic} ${count} ${index} ${'v'.repeat(20 + count % 7 * 15)}`), [{ key: 'h', value: Uint8Array.of(count) }])
  }
  const codec = topic === 'compressed' ? [1, 2, 3, 4][count % 4] as CompressionCodec : 0
  const producer = count % 2 === 0 ? {} : { producerId: 7, producerEpoch: 0, baseSequence: sequenceBefore(count) }
  return builder.finish({ codec, ...producer })
}

/** Records of the producer's batches before this one. */
function sequenceBefore(count: number): number {
  let records = 0
  for (let earlier = 1; earlier < count; earlier += 2) records += earlier % 3 + 1
  return records
}

function pathsIn(files: MemoryFileSystem, directory: string): string[] {
  return files.list(directory).flatMap(name => {
    const path = `${directory}/${name}`
    return files.stat(path)!.kind === 'directory' ? pathsIn(files, path) : [path]
  })
}

export function contentOf(files: MemoryFileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return bytes
}

export function putContent(files: MemoryFileSystem, path: string, bytes: Uint8Array): void {
  const file = files.open(path, 'ensure')
  file.truncate(0)
  file.write([bytes], 0)
  file.close()
}

