import { describe, expect, test } from 'vitest'
import { BrokerSettingsMap } from '../../../src/kernel/config/broker-settings-map.ts'
import { type LogStore } from '../../../src/kernel/ports/log-store.ts'
import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'
import { NodeCompression } from '../../../src/platform/codecs/node-compression.ts'
import { MemoryLogStore } from '../../../src/plugins/storage-memory/memory-log-store.ts'
import { failuresOf, firstFailureOf, type DeclareTest } from '../../../src/testkit/conformance/kit.ts'
import { logStoreConformance, type LogStoreCapabilities, type LogStoreSubject } from '../../../src/testkit/conformance/log-store.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { SeededRandom } from '../../../src/testkit/world/seeded-random.ts'

/** What of a log is broken: some of its members, made from the sound log. */
type Break = (log: PartitionLog) => Partial<PartitionLog>

/** A store over storage-memory whose logs have members replaced. */
function brokenStore(store: MemoryLogStore, damage: Break): LogStore {
  const known = new Map<PartitionLog, PartitionLog>()
  const damaged = <T extends PartitionLog | undefined>(log: T): T => {
    if (log === undefined) return log
    let made = known.get(log)
    if (made === undefined) {
      const broken = damage(log) as Record<string | symbol, unknown>
      made = new Proxy(log, {
        get: (target, name) => {
          const value: unknown = name in broken ? broken[name] : Reflect.get(target, name, target)
          return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value
        },
        set: (target, name, value) => Reflect.set(target, name, value, target),
      })
      known.set(log, made)
    }
    return made as T
  }
  return {
    logs: () => [...store.logs()].map(log => damaged(log)),
    find: (topicId, partition) => damaged(store.find(topicId, partition)),
    create: (id, settings) => damaged(store.create(id, settings)),
    remove: (topicId, partition) => store.remove(topicId, partition),
    setAside: (topicId, partition) => store.setAside(topicId, partition),
    sweep: () => store.sweep(),
    flush: () => store.flush(),
    directories: () => store.directories(),
  }
}

async function memorySubject(change: (store: MemoryLogStore) => LogStore): Promise<LogStoreSubject> {
  const timers = new ManualTimers()
  const store = new MemoryLogStore(timers.clock, timers, new SeededRandom(1), new NodeCompression(), new BrokerSettingsMap())
  await store.start()
  return {
    store: change(store),
    nowMs: () => timers.clock.wallMs(),
    advance: ms => timers.advance(ms),
    settle: promise => promise,
    stop: () => store.stop(),
  }
}

const sound: Break = () => ({})
const unchanged = (store: LogStore): LogStore => store

/** The kit over such a store. */
const kit = (damage: Break, change: (store: LogStore) => LogStore, capabilities: LogStoreCapabilities = { durable: false }) => (declare: DeclareTest): void => {
  logStoreConformance({ test: declare, capabilities, create: () => memorySubject(store => change(brokenStore(store, damage))), seed: 5, randomRuns: 5 })
}

describe('the kit for log stores', () => {
  test('finds nothing wrong with a sound store', async () => {
    expect(await failuresOf(kit(sound, unchanged))).toEqual([])
  })

  const breaks: readonly (readonly [string, Break])[] = [
    ['says it appended, and loses each fifth batch', log => {
      let count = 0
      return {
        append: (bytes, at, length, origin) => {
          if (++count % 5 !== 0) return log.append(bytes, at, length, origin)
          return { baseOffset: log.endOffset, lastOffset: log.endOffset, duplicate: false }
        },
      }
    }],
    ['does not write the leader epoch into a batch', log => ({
      append: (bytes, at, length, origin) => log.append(bytes, at, length, { ...origin, leaderEpoch: Math.max(0, log.lastEpoch) }),
    })],
    ['appends a repeated batch again', log => ({
      append: (bytes, at, length, origin) => {
        const copy = bytes.slice()
        new DataView(copy.buffer).setBigInt64(at + 43, -1n)
        return log.append(copy, at, length, origin)
      },
    })],
    ['counts one segment, whatever there are', () => ({ segmentCount: 1 })],
    ['counts segments that are gone', () => {
      let most = 0
      return { get segmentCount() { return ++most } }
    }],
    ['answers a duplicate with new offsets', log => ({
      append: (bytes, at, length, origin) => {
        const outcome = log.append(bytes, at, length, origin)
        return outcome.duplicate ? { ...outcome, baseOffset: log.endOffset } : outcome
      },
    })],
    ['begins a read behind the offset', log => ({
      read: (request, sink) => log.read({ ...request, offset: Math.min(request.offset + 1, log.endOffset) }, sink),
    })],
    ['reads past the end that was asked for', log => ({ read: (request, sink) => log.read({ ...request, endOffset: Infinity }, sink) })],
    ['cuts the last batch of a read', log => ({
      read: (request, sink) => log.read(request, {
        read: (bytes, release) => sink.read(bytes.subarray(0, Math.max(0, bytes.length - 1)), release), failed: error => sink.failed(error),
      }),
    })],
    ['does not return a first batch above maxBytes', log => ({ read: (request, sink) => log.read({ ...request, atLeastOneBatch: false }, sink) })],
    ['finds times one record late', log => ({
      locate: (timestampMs, endOffset) => {
        const hit = log.locate(timestampMs, endOffset)
        return hit === undefined || timestampMs === 'max' ? hit : { ...hit, offset: hit.offset + 1 }
      },
    })],
    ['finds times above the bound', log => ({ locate: timestampMs => log.locate(timestampMs, log.endOffset) })],
    ['takes the last of equal newest records', log => ({
      locate: (timestampMs, endOffset) => timestampMs === 'max' && endOffset === log.endOffset && endOffset > 0
        ? { offset: endOffset - 1, timestamp: log.locate('max', endOffset)?.timestamp ?? 0, leaderEpoch: 0 } : log.locate(timestampMs, endOffset),
    })],
    ['does not truncate', () => ({ truncateTo: () => {} })],
    ['truncates one record too few', log => ({ truncateTo: offset => log.truncateTo(offset + 1) })],
    ['deletes above the high watermark', log => ({
      deleteTo: offset => {
        log.raiseHighWatermark(offset)
        log.deleteTo(offset)
      },
    })],
    ['lets the high watermark fall', log => {
      let watermark = 0
      return { raiseHighWatermark: offset => { watermark = offset }, get highWatermark() { return Math.min(watermark, log.endOffset) } }
    }],
    ['takes the next epoch for an unknown one', log => ({ epochEnd: epoch => log.epochEnd(Math.min(epoch, log.lastEpoch)) })],
    ['ignores new settings', () => ({ configure: () => {} })],
  ]
  for (const [title, damage] of breaks) {
    test(`finds a log that ${title}`, async () => {
      expect(await firstFailureOf(kit(damage, unchanged))).toBeDefined()
    })
  }

  const storeBreaks: readonly (readonly [string, (store: LogStore) => LogStore])[] = [
    ['keeps what was removed', store => ({ ...store, remove: () => {} })],
    ['never sweeps', store => ({ ...store, sweep: () => ({ segmentsDeleted: 0, bytesDeleted: 0, segmentsRolled: 0, left: 0 }) })],
    ['never comes to the end of a sweep', store => ({ ...store, sweep: () => ({ ...store.sweep(), left: 1 }) })],
    ['never flushes with durability fsync', store => ({
      ...store,
      create: (id, settings) => {
        const log = store.create(id, settings)
        if (settings.durability === 'os') return log
        // The members of a broken log are bound to the sound one.
        return new Proxy(log, { get: (_, name): unknown => name === 'flushedOffset' ? 0 : Reflect.get(log, name), set: (_, name, value) => Reflect.set(log, name, value) })
      },
    })],
    ['lists no logs', store => ({ ...store, logs: () => [] })],
  ]
  for (const [title, change] of storeBreaks) {
    test(`finds a store that ${title}`, async () => {
      expect(await firstFailureOf(kit(sound, change))).toBeDefined()
    })
  }

  test('wants to know whether the store is durable', async () => {
    const undeclared = {} as LogStoreCapabilities
    expect(await failuresOf(kit(sound, unchanged, undeclared))).toEqual(['it is declared whether the store is durable'])
  })

  test('does not take the word of a store that says it is durable', async () => {
    const timers = new ManualTimers()
    const create = async (): Promise<LogStoreSubject> => {
      const store = new MemoryLogStore(timers.clock, timers, new SeededRandom(1), new NodeCompression(), new BrokerSettingsMap())
      await store.start()
      const again = async (): Promise<void> => {
        await store.stop()
        await store.start()
      }
      return {
        store, nowMs: () => 0, advance: () => {}, settle: promise => promise, stop: () => store.stop(), restart: again, kill: again, powerCut: again,
      }
    }
    const failed = await failuresOf(declare => logStoreConformance({ test: declare, capabilities: { durable: true }, create, seed: 5, randomRuns: 1 }))
    expect(failed).toContain('a restart after a flush leaves every log as it was')
  })
})
