import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { json, topic, typedConsumer, type GroupConsumer } from '../../../../src/client/index.ts'
import { seedsOf } from '../../../integration/seeds.ts'
import { type GroupWorld, inGroupWorld } from './group-world.ts'

const partitions = 3
const perPartition = 12

async function fill(world: GroupWorld, valueOf: (partition: number, offset: number) => string): Promise<void> {
  const client = world.client()
  await client.admin().createTopics([{ name: 'orders', partitions }])
  const records = Array.from({ length: perPartition }, (_, offset) => Array.from({ length: partitions }, (__, partition) => ({ topic: 'orders', partition, value: valueOf(partition, offset) }))).flat()
  await client.producer().sendMany(records)
  await client.close()
}

/** Where the group goes on, by partition: at the beginning where nothing is committed. */
async function committed(world: GroupWorld): Promise<number[]> {
  const client = world.client()
  const found = await client.admin().listGroupOffsets('g', Array.from({ length: partitions }, (_, partition) => ({ topic: 'orders', partition })))
  await client.close()
  return found.map(({ offset }) => Math.max(0, offset))
}

type Ending = 'close' | 'commit' | 'unsubscribe' | 'dispose'
const endings = ['close', 'commit', 'unsubscribe', 'dispose'] as const

/** `dispose` says nothing of the record that a loop was at. */
async function end(consumer: GroupConsumer, ending: Ending): Promise<void> {
  if (ending === 'commit') await consumer.commit()
  if (ending === 'unsubscribe') await consumer.unsubscribe()
  if (ending === 'dispose') await consumer[Symbol.asyncDispose]()
  else await consumer.close({ commit: ending !== 'commit' })
}

/** What a loop was given and where it sought, and so what may be committed. */
class Model {
  /** The offset that comes next, of partitions of which something was given or that were sought. */
  readonly next = new Map<number, number>()

  expected(before: readonly number[]): number[] {
    return before.map((offset, partition) => this.next.get(partition) ?? offset)
  }
}

describe('a loop over the records of a member', () => {
  it.each(seedsOf(Array.from({ length: 24 }, (_, seed) => seed)))('goes on where it was sought, and what is committed in it and after it is where it would go on, seed %i', seed => inGroupWorld(async (world) => {
    const prng = new Prng(seed)
    await fill(world, (partition, offset) => `${partition} ${offset}`)
    const client = world.client()
    const consumer = client.consumer({ groupId: 'g', autoCommitIntervalMs: 600_000 })
    consumer.subscribe(['orders'])
    const model = new Model()
    let turns = prng.between(1, 60)
    for await (const { partition, offset } of consumer) {
      expect(offset, `of partition ${partition}, seed ${seed}`).toBe(model.next.get(partition) ?? 0)
      model.next.set(partition, offset + 1)
      if (prng.chance(0.15)) {
        const where = { partition: prng.between(0, partitions - 1), offset: prng.between(0, perPartition - 1) }
        consumer.seek({ topic: 'orders', ...where })
        model.next.set(where.partition, where.offset)
      }
      if (prng.chance(0.1)) {
        const before = await committed(world)
        await consumer.commit()
        const after = await committed(world)
        expect(after).toEqual(model.expected(before))
      }
      const isAtEnd = [...model.next.values()].filter(next => next === perPartition).length === partitions
      if (turns-- === 0 || isAtEnd) break
    }
    const before = await committed(world)
    await end(consumer, prng.chance(0.5) ? 'close' : 'commit')
    expect(await committed(world)).toEqual(model.expected(before))
    await client.close()
  }, seed + 1))

  describe.each(endings)('that is followed by %s', (ending) => {
    it('commits the place that was sought in it, and of other partitions no more than was given', () => inGroupWorld(async (world) => {
      await fill(world, (partition, offset) => `${partition} ${offset}`)
      const client = world.client()
      const consumer = client.consumer({ groupId: 'g', autoCommitIntervalMs: 600_000 })
      consumer.subscribe(['orders'])
      const given = Array.from({ length: partitions }, () => 0)
      let first: number | undefined
      for await (const { partition, offset } of consumer) {
        first ??= partition
        given[partition] = offset + 1
        if (partition !== first || offset !== 5) continue
        consumer.seek({ topic: 'orders', partition, offset: 2 })
        given[partition] = 2
        break
      }
      await end(consumer, ending)
      expect(await committed(world)).toEqual(given)
      await client.close()
    }))

    it('passes no record over that could not be decoded', () => inGroupWorld(async (world) => {
      await fill(world, (partition, offset) => partition === 0 && offset === 4 ? 'no json' : '{}')
      const client = world.client()
      const consumer = client.consumer({ groupId: 'g', autoCommitIntervalMs: 600_000 })
      consumer.subscribe(['orders'])
      const given = Array.from({ length: partitions }, () => 0)
      const loop = async (): Promise<void> => {
        for await (const { partition, offset } of typedConsumer(consumer, topic('orders', { value: json() }))) given[partition] = offset + 1
      }
      await expect(loop()).rejects.toMatchObject({ code: 'MR_CLIENT_RECORD_UNDECODABLE', details: { partition: 0, offset: 4 } })
      await end(consumer, ending)
      expect(given[0]).toBe(4)
      expect(await committed(world)).toEqual(given)
      await client.close()
    }))
  })

  it('commits nothing of a partition that was sought to a time or an end that is not known yet', () => inGroupWorld(async (world) => {
    await fill(world, () => 'x')
    const client = world.client()
    const consumer = client.consumer({ groupId: 'g', autoCommit: false })
    consumer.subscribe(['orders'])
    for await (const { topic: name, partition, offset } of consumer) {
      if (offset !== 3) continue
      consumer.seekToTime({ topic: name, partition }, 0)
      await consumer.commit()
      expect((await committed(world))[partition]).toBe(0)
      break
    }
    await consumer.close({ commit: false })
    await client.close()
  }))
})

describe('a poll that waits for a listener', () => {
  it('has not given what it holds: a commit in the listener does not say that it is done', () => inGroupWorld(async (world) => {
    const client = world.client()
    await client.admin().createTopics([{ name: 'orders', partitions }])
    const [one, two] = [0, 1].map(() => client.consumer({ groupId: 'g', autoCommit: false, heartbeatIntervalMs: 100 })) as [GroupConsumer, GroupConsumer]
    let atListener: number[] | undefined
    one.subscribe(['orders'], { onRevoked: async (gone) => {
      if (atListener !== undefined) return
      const kept = [0, 1, 2].filter(partition => !gone.some(each => each.partition === partition))
      await client.producer().sendMany(kept.map(partition => ({ topic: 'orders', partition, value: 'x' })))
      await world.passes(1000)
      await one.commit()
      atListener = await committed(world)
    } })
    while (one.assignment().length < partitions) await one.poll({ timeoutMs: 100 })
    two.subscribe(['orders'])
    const joining = (async () => { while (two.assignment().length === 0) await two.poll({ timeoutMs: 100 }) })()
    expect(await one.poll()).not.toEqual([])
    expect(atListener).toEqual([0, 0, 0])
    await one.commit()
    expect(await committed(world)).toContain(1)
    while (two.assignment().length === 0) await one.poll({ timeoutMs: 100 })
    await joining
    await Promise.all([one.close(), two.close()])
    await client.close()
  }))
})
