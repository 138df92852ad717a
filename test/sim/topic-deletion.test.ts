import { describe, expect, it } from 'vitest'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { ClusterMetadata } from '../../src/kernel/ports/cluster-metadata.ts'
import { crashAt } from './crash-points.ts'

const directories = ['/data', '/data2']
/** Set aside long ago, perhaps of a topic of the same name. */
const oldStray = `orders-0.${'0123456789abcdef'.repeat(2)}-stray`

function names(sim: SimBroker): string[] {
  const { files } = sim.machine.process
  return directories.flatMap((path) => files.list(path)).filter((name) => /^(orders|kept)/.test(name)).sort()
}

const removals = (sim: SimBroker): number => sim.broker.port(ClusterMetadata).image().removals.size

async function prepared(seed: number): Promise<SimBroker> {
  const sim = await createSimBroker({ seed, options: { data: directories, broker: { 'log.segment.delete.delay.ms': 500 } } })
  await sim.run(async () => {
    sim.machine.process.files.makeDirectory(`/data/${oldStray}`)
    await sim.start()
    await using client = sim.client()
    await client.admin().createTopics([{ name: 'orders', partitions: 3 }, { name: 'kept', partitions: 1 }])
    await client.producer().sendMany([0, 1, 2].map((partition) => ({ topic: 'orders', partition, value: 'x' })))
    await client.producer().send({ topic: 'kept', value: 'kept' })
  })
  return sim
}

describe('a deletion of a topic', () => {
  it('that is cut short at any step, killed or by a power cut, is finished by the next start; nothing is set aside', async () => {
    let finished = 0
    let undone = 0
    for (let step = 1; ; step++) {
      const sim = await prepared(step)
      const ended = await sim.run(async () => {
        const point = crashAt(sim, step, () => { if (step % 2 === 0) sim.kill(); else sim.powerCut() })
        const deletion = async (): Promise<boolean> => {
          await sim.client('deleter').admin().deleteTopics(['orders'])
          await sim.world.sleep(2500)
          return true
        }
        if (await Promise.race([deletion(), point.crashed.then(() => false)])) return true
        await sim.start()
        const { topics } = sim.broker.port(ClusterMetadata).image()
        if (topics.has('orders')) {
          undone++
          expect(names(sim)).toEqual(['kept-0', 'orders-0', oldStray, 'orders-1', 'orders-2'])
          return false
        }
        finished++
        expect(names(sim).filter((name) => !name.endsWith('-delete'))).toEqual(['kept-0', oldStray])
        await sim.world.sleep(2500)
        expect(names(sim)).toEqual(['kept-0', oldStray])
        expect(removals(sim)).toBe(0)
        return false
      })
      if (ended) {
        expect(names(sim)).toEqual(['kept-0', oldStray])
        expect(removals(sim)).toBe(0)
        break
      }
    }
    // The command and its witness, a rename and a sync a partition, the confirmation and its witness, and what is freed.
    expect(undone).toBeGreaterThan(0)
    expect(finished).toBeGreaterThan(8)
  })

  it('that is cut short again and again, at every step of the start that finishes it, is finished in the end', async () => {
    for (let step = 1; ; step++) {
      const sim = await prepared(step)
      const passed = await sim.run(async () => {
        // The first partition is gone, the others are not.
        const first = crashAt(sim, 5, () => { sim.kill() })
        void sim.client('deleter').admin().deleteTopics(['orders']).catch(() => undefined)
        await first.crashed
        const second = crashAt(sim, step, () => { if (step % 2 === 0) sim.kill(); else sim.powerCut() })
        const started = await Promise.race([sim.start().then(async () => { await sim.world.sleep(2500); return true }), second.crashed.then(() => false)])
        if (!started) {
          await sim.start()
          await sim.world.sleep(2500)
        }
        expect(names(sim)).toEqual(['kept-0', oldStray])
        expect(removals(sim)).toBe(0)
        return started
      })
      if (passed) break
    }
  })

  it('while a data directory is out of service is not forgotten before the directory is back and its logs are gone', async () => {
    const sim = await prepared(1)
    await sim.run(async () => {
      await sim.stop()
      sim.machine.process.files.faults.add({ operation: 'create', path: /^\/data2\/writable/, error: 'EIO' })
      await sim.start()
      await sim.client('deleter').admin().deleteTopics(['orders'])
      await sim.world.sleep(20_000)
      expect(removals(sim)).toBe(1)
      expect(names(sim).filter((name) => /^orders-\d$/.test(name))).not.toEqual([])
      await sim.stop()
      sim.machine.process.files.faults.clear()
      await sim.start()
      await sim.world.sleep(2500)
      expect(names(sim)).toEqual(['kept-0', oldStray])
      expect(removals(sim)).toBe(0)
    })
  })
})
