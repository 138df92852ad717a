import { describe, expect, it } from 'vitest'
import { type BrokerOptions } from '../../src/broker/index.ts'
import { type Plugin } from '../../src/kernel/plugin/define-plugin.ts'
import { type Need } from '../../src/kernel/plugin/token.ts'
import { BrokerSettings, ClusterMetadata } from '../../src/kernel/index.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { storageLocal } from '../../src/plugins/storage-local/plugin.ts'
import { storageMemory } from '../../src/plugins/storage-memory/plugin.ts'
import { crashAt } from './crash-points.ts'

/** A durable store of somebody else: its files lie elsewhere than in `log.dirs`, it has nothing to do with the identity of the broker, and refuses a start under another one. */
const acmeStore: Plugin = {
  ...storageLocal, name: 'acme-store', capabilities: { durable: true, compaction: true },
  register(binder, config) {
    const elsewhere = (settings: BrokerSettings): BrokerSettings => new Proxy(settings, {
      get(target, name) {
        if (name === 'list') return (key: string) => key === 'log.dirs' ? ['/acme'] : target.list(key)
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) as unknown : value
      },
    })
    const provide = (ports: readonly never[], needs: readonly Need[], make: (...given: unknown[]) => unknown): void => {
      const at = needs.indexOf(BrokerSettings)
      binder.provide(ports, needs as never, ((...given: unknown[]) => make(...given.with(at, elsewhere(given[at] as BrokerSettings)))) as never)
    }
    storageLocal.register({ ...binder, provide: provide as never }, config)
  },
}

const stores: readonly (readonly [string, BrokerOptions, boolean])[] = [
  ['storage-memory', { plugins: [{ use: storageMemory, instead: 'storage-local' }], broker: { durability: 'os' } }, false],
  ['a durable store of a third party', { plugins: [{ use: acmeStore, instead: 'storage-local' }], settings: { 'acme-store': { redoBytesMax: 1024 * 1024, redoSync: 'pooled' } } }, true],
]

/** Makes the topic where it is not there yet. Resolves with the values that were in it before one was added. */
async function use(sim: SimBroker, value: string): Promise<readonly (string | null)[]> {
  await using client = sim.client()
  const metadata = sim.broker.port(ClusterMetadata)
  if (!metadata.image().topics.has('orders')) await client.admin().createTopics([{ name: 'orders', partitions: 1 }])
  const { offset } = await client.producer().send({ topic: 'orders', partition: 0, value })
  const consumer = client.consumer()
  consumer.assign([{ topic: 'orders', partition: 0, offset: 'beginning' }])
  const values: (string | null)[] = []
  while (values.length <= Number(offset)) for (const record of await consumer.poll({ timeoutMs: 10_000 })) values.push(record.text())
  expect(values.pop()).toBe(value)
  return values
}

/** The cluster, on which the identity and the metadata agree. */
function clusterOf({ broker }: SimBroker): string {
  const { clusterId } = broker.port(ClusterMetadata).image()
  expect(broker.identity.clusterId).toBe(clusterId)
  return clusterId
}

describe.each(stores)('a broker with %s in place of storage-local', (_name, options, isDurable) => {
  it('is of the same cluster and has its topics at each further start, whichever way it was ended', async () => {
    const sim = await createSimBroker({ seed: 21, options })
    await sim.run(async () => {
      await sim.start()
      const cluster = clusterOf(sim)
      const epochs = [epochOf(await used(sim, 'value 0', []))]
      const ends: readonly (() => unknown)[] = [() => sim.stop(), () => { sim.kill() }, () => { sim.powerCut() }, () => sim.stop()]
      for (const [index, end] of ends.entries()) {
        await end()
        await sim.start()
        expect(clusterOf(sim)).toBe(cluster)
        epochs.push(epochOf(await used(sim, `value ${index + 1}`, isDurable ? [...epochs.keys()].map((each) => `value ${each}`) : [])))
      }
      expect(epochs).toEqual([...epochs].sort((left, right) => left - right))
      expect(new Set(epochs).size).toBe(epochs.length)
    })
  })

  it('whose first start is ended at any step, killed or by a power cut, starts, and is of that cluster from then on', async () => {
    let steps = 0
    for (let run = 2; ; run++) {
      const [step, isKill] = [run >> 1, run % 2 === 0]
      const sim = await createSimBroker({ seed: step, options })
      const passed = await sim.run(async () => {
        const point = crashAt(sim, step, () => { if (isKill) sim.kill(); else sim.powerCut() })
        const started = await Promise.race([sim.start().then(() => true), point.crashed.then(() => false)])
        if (started) return true
        await sim.start()
        const cluster = clusterOf(sim)
        await use(sim, 'kept')
        sim.powerCut()
        await sim.start()
        expect(clusterOf(sim), `step ${step}, ${isKill ? 'killed' : 'power cut'}`).toBe(cluster)
        expect(await use(sim, 'next')).toEqual(isDurable ? ['kept'] : [])
        return false
      })
      if (passed) break
      steps++
    }
    expect(steps).toBeGreaterThan(40)
  })

  it('goes on with the cluster of its metadata when this was made by a start that knew no other, and refuses that of a meta.properties of another', async () => {
    const sim = await createSimBroker({ seed: 22, options })
    await sim.run(async () => {
      await sim.start()
      const cluster = clusterOf(sim)
      await sim.stop()
      const { files } = sim.machine.process
      const file = files.open('/data/meta.properties', 'ensure')
      file.write([new TextEncoder().encode('version=1\ncluster.id=b3JkZXJzb3JkZXJzb3JkZQ\nnode.id=1\n')], 0)
      file.close()
      await expect(sim.start()).rejects.toMatchObject({ code: expect.stringMatching(/^MR_CLUSTER_(METADATA_FOREIGN|ID_MISMATCH)$/) })
      sim.machine.process.files.remove('/data/meta.properties')
      await sim.start()
      expect(clusterOf(sim)).toBe(cluster)
    })
  })
})

async function used(sim: SimBroker, value: string, before: readonly string[]): Promise<SimBroker> {
  expect(await use(sim, value)).toEqual(before)
  return sim
}

const epochOf = ({ broker }: SimBroker): number => broker.port(ClusterMetadata).image().topics.get('orders')!.partitions[0]!.leaderEpoch
