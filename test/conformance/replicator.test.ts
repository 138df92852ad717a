import { describe, expect, it, test } from 'vitest'
import { type LogStore } from '../../src/kernel/ports/log-store.ts'
import { type Replica, type Replicator } from '../../src/kernel/ports/replicator.ts'
import { BrokerSettingsMap } from '../../src/kernel/config/broker-settings-map.ts'
import { NodeCompression } from '../../src/platform/codecs/node-compression.ts'
import { SingleReplicator } from '../../src/plugins/replication-single/single-replicator.ts'
import { MemoryLogStore } from '../../src/plugins/storage-memory/memory-log-store.ts'
import { makeBatch, newTopicId } from '../../src/testkit/conformance/log-store-subject.ts'
import { failuresOf } from '../../src/testkit/conformance/kit.ts'
import { replicatorConformance, type ReplicatorSubject } from '../../src/testkit/conformance/replicator.ts'
import { ManualMetadata, soleTopic } from '../../src/testkit/conformance/replicator-metadata.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { settled } from '../../src/testkit/world/settled.ts'
import { simulatedStore } from '../unit/plugins/storage-local/store-subjects.ts'
import { nullLogger } from '../../src/testkit/world/null-telemetry.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'

async function subject(store: LogStore, stop: () => Promise<void>): Promise<ReplicatorSubject> {
  const metadata = new ManualMetadata()
  const timers = new ManualTimers()
  const replicator = new SingleReplicator({ nodeId: 1, metadata, controller: metadata, store, log: nullLogger, clock: timers.clock, timers })
  await replicator.start()
  return {
    replicator, nodeId: 1, metadata, store,
    settle: async () => {
      timers.runSoon()
      await settled()
    },
    stop: async () => {
      await replicator.stop()
      await stop()
    },
  }
}

async function create(): Promise<ReplicatorSubject> {
  const timers = new ManualTimers()
  const store = new MemoryLogStore(timers.clock, timers, new SeededRandom(1), new NodeCompression(), new BrokerSettingsMap())
  await store.start()
  return subject(store, () => store.stop())
}

describe('replication-single over storage-memory', () => {
  replicatorConformance({ test, create })
})

describe('replication-single over storage-local, where the watermark waits for the sync', () => {
  replicatorConformance({
    test,
    create: async () => {
      const { store } = await simulatedStore(1)
      return subject(store, () => store.stop())
    },
  })

  it('what was acknowledged survives a power cut with its leader epoch, and is seen again', async () => {
    const simulated = await simulatedStore(2)
    const topic = soleTopic('a', newTopicId(), [1], {}, 3)
    const before = await subject(simulated.store, () => simulated.stop())
    before.metadata.put(topic)
    const replica = before.replicator.replica(topic.id, 0)!
    const batch = makeBatch(5)
    replica.append(batch, 0, batch.length)
    expect(replica.highWatermark).toBe(0)
    await new Promise<void>((resolve, reject) => replica.wait({ offset: 5, reached: resolve, failed: reject }))
    await simulated.powerCut!()
    const metadata = new ManualMetadata()
    metadata.put(topic)
    const timers = new ManualTimers()
    const replicator = new SingleReplicator({ nodeId: 1, metadata, controller: metadata, store: simulated.store, log: nullLogger, clock: timers.clock, timers })
    await replicator.start()
    expect(replicator.replica(topic.id, 0)).toMatchObject({ highWatermark: 5, lastStableOffset: 5, leader: true, leaderEpoch: 3 })
    await replicator.stop()
    await simulated.stop()
  })
})

describe('the kit', () => {
  /** The replicas that a subject gives, with some of their methods replaced. */
  const broken = (change: (replica: Replica) => Partial<Replica>, keep = true) => async (): Promise<ReplicatorSubject> => {
    const real = await create()
    const known = new Map<Replica, Replica>()
    const wrap = (replica: Replica): Replica => {
      const wrapped = known.get(replica) ?? new Proxy(replica, {
        get: (target, name) => {
          const value: unknown = Reflect.get({ ...change(target) }, name) ?? Reflect.get(target, name, target)
          return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value
        },
      })
      if (keep) known.set(replica, wrapped)
      return wrapped
    }
    const replicator: Replicator = {
      replica: (topicId, partition) => {
        const replica = real.replicator.replica(topicId, partition)
        return replica === undefined ? undefined : wrap(replica)
      },
      replicas: () => real.replicator.replicas(),
      isMaking: (topicId, partition) => real.replicator.isMaking(topicId, partition),
      made: (topicId) => real.replicator.made(topicId),
    }
    return { ...real, replicator }
  }
  const failures = (make: () => Promise<ReplicatorSubject>) => failuresOf((declare) => replicatorConformance({ test: declare, create: make }))

  it('passes the real one behind the same wrapper', async () => {
    expect(await failures(broken(() => ({})))).toEqual([])
  })

  it('notices a cancel that does nothing', async () => {
    expect(await failures(broken(() => ({ cancel: () => {} })))).toContain('a cancelled waiter is never called, also when another one cancels it while both are woken')
  })

  it('notices objects that are made anew at each look', async () => {
    expect(await failures(broken(() => ({}), false))).toContain('a replica stays the same object while its topic changes, and has the new settings and epoch')
  })

  it('notices a waiter that is called within the call, or never', async () => {
    expect(await failures(broken(() => ({ wait: (waiter) => waiter.reached() })))).toContain('a waiter whose offset was reached before is woken too, and not within the call')
    expect(await failures(broken(() => ({ wait: () => {} })))).toContain('waiters are woken when their offset is reached, each once, lowest first')
  })

  it('notices a watermark beyond what was flushed', async () => {
    expect(await failures(broken((replica) => ({ highWatermark: replica.log.endOffset + 1 })))).toContain('the high watermark never passes the flushed offset, reaches the log end, and the log learns of it')
  })
})
