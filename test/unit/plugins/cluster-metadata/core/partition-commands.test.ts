import { describe, expect, it } from 'vitest'
import { type MorePartitions } from '../../../../../src/kernel/ports/controller.ts'
import { benchWithBrokers, newTopic, registration, type ControllerBench } from './metadata-fixtures.ts'

const more = (name: string, partitions: number, assignment?: readonly (readonly number[])[]): MorePartitions => ({ name, partitions, assignment })
const extend = (bench: ControllerBench, ...topics: MorePartitions[]) => bench.run({ type: 'createPartitions', topics, validateOnly: false })
const code = (topic: { readonly error: { readonly row: { readonly kafka: number } } | undefined }): number => topic.error?.row.kafka ?? 0

describe('adding partitions', () => {
  it('puts new ones behind those that are there, with as many replicas as partition 0 has, and leaves the others as they were', () => {
    const bench = benchWithBrokers(3)
    bench.create(newTopic('a', { partitions: 2, replicationFactor: 2 }))
    bench.run({ type: 'registerBroker', registration: registration(1, 1) })
    const before = bench.image.topics.get('a')!
    const [extended] = extend(bench, more('a', 5))
    expect(extended).toEqual({ name: 'a', error: undefined, id: before.id, partitions: 5 })
    const { partitions, ...rest } = bench.image.topics.get('a')!
    const { partitions: _before, ...restBefore } = before
    expect(partitions.slice(0, 2)).toEqual(before.partitions)
    expect(partitions.map(({ partition }) => partition)).toEqual([0, 1, 2, 3, 4])
    for (const { leader, leaderEpoch, partitionEpoch, replicas, isr } of partitions.slice(2)) {
      expect(new Set(replicas).size).toBe(2)
      expect({ leader, leaderEpoch, partitionEpoch, isr }).toEqual({ leader: replicas[0], leaderEpoch: 0, partitionEpoch: 0, isr: replicas })
    }
    expect(partitions.slice(2).map(({ leader }) => leader).sort()).toEqual([1, 2, 3])
    expect(rest).toEqual(restBefore)
  })

  it('can be done again, and a topic that was extended is deleted with all of its logs awaited', () => {
    const bench = benchWithBrokers(2)
    const [created] = bench.create(newTopic('a', { assignment: [[1]] }))
    expect(extend(bench, more('a', 2, [[1]])).map(code)).toEqual([0])
    expect(extend(bench, more('a', 4, [[2], [1]])).map(code)).toEqual([0])
    expect(bench.image.topics.get('a')!.partitions.map(({ leader }) => leader)).toEqual([1, 1, 2, 1])
    bench.run({ type: 'deleteTopics', topics: [{ name: 'a', id: created!.id }] })
    expect(bench.image.removals.get(created!.id)).toEqual([1, 2])
  })

  it('validateOnly checks all and adds nothing', () => {
    const bench = benchWithBrokers(1)
    bench.create('a')
    const { records, reply } = bench.decide({ type: 'createPartitions', topics: [more('a', 4), more('b', 4)], validateOnly: true })
    expect(records).toEqual([])
    expect(reply.map(code)).toEqual([0, 3])
    expect(reply[0]).toMatchObject({ partitions: 4 })
    expect(bench.image.topics.get('a')!.partitions).toHaveLength(3)
  })

  it.each<[string, MorePartitions, number]>([
    ['as many as there are', more('a', 3), 37],
    ['fewer than there are', more('a', 2), 37],
    ['none', more('a', 0), 37],
    ['fewer than none', more('a', -1), 37],
    ['more than the limit', more('a', 101), 37],
    ['more than any number', more('a', 0x7fff_ffff), 37],
    ['as many as there are, assigned', more('a', 3, [[1]]), 37],
    ['a topic that is not there', more('b', 4), 3],
    ['a name that cannot be', more('a b', 4), 3],
    ['no name', more('', 4), 3],
    ['an assignment of fewer than are added', more('a', 5, [[1]]), 39],
    ['an assignment of more than are added', more('a', 4, [[1], [1]]), 39],
    ['an assignment of none', more('a', 4, []), 39],
    ['an assignment to nobody', more('a', 4, [[]]), 39],
    ['an assignment to an unknown broker', more('a', 4, [[9]]), 39],
    ['an assignment to a broker twice', more('a', 4, [[1, 1]]), 39],
    ['an assignment with more replicas than partition 0 has', more('a', 4, [[1, 2]]), 39],
    ['what the brokers keep for themselves', more('__consumer_offsets', 4), 42],
  ])('%s is refused, and nothing is recorded', (_title, asked, expected) => {
    const bench = benchWithBrokers(2)
    bench.create('a', '__consumer_offsets')
    const { records, reply } = bench.decide({ type: 'createPartitions', topics: [asked], validateOnly: false })
    expect(reply.map(code)).toEqual([expected])
    expect(records).toEqual([])
  })

  it('says how many there are, and the partition whose assignment is wrong', () => {
    const bench = benchWithBrokers(2)
    bench.create('a')
    const said = (asked: MorePartitions): string => extend(bench, asked)[0]!.error!.message
    expect(said(more('a', 3))).toBe('topic a: it has 3 partitions already')
    expect(said(more('a', 2))).toBe('topic a: it has 3 partitions, and partitions are only added: 2 would be fewer')
    expect(said(more('a', 5, [[1], [9]]))).toBe('topic a: partition 4 names broker 9, which is not registered')
  })

  it('one that is refused keeps no other from its partitions, a topic named twice gets none', () => {
    const bench = benchWithBrokers(1)
    bench.create('a', 'b', 'c')
    expect(extend(bench, more('a', 4), more('b', 4), more('none', 4), more('a', 5), more('c', 3)).map(code)).toEqual([42, 0, 3, 42, 37])
    expect(['a', 'b', 'c'].map((name) => bench.image.topics.get(name)!.partitions.length)).toEqual([3, 4, 3])
  })

  it('what one request adds has the limit of partitions together', () => {
    const bench = benchWithBrokers(1)
    bench.create('a', 'b', 'c')
    expect(extend(bench, more('a', 63), more('b', 44), more('c', 43)).map(code)).toEqual([0, 37, 0])
  })

  it('a topic whose replicas need more brokers than are alive is refused, assigned to them or not', () => {
    const bench = benchWithBrokers(2)
    bench.create(newTopic('a', { partitions: 1, replicationFactor: 2 }))
    const { image } = bench
    const fenced = new Map([...image.brokers].map(([id, broker]) => [id, { ...broker, fenced: id === 2 }]))
    const machine = bench.machineOver({ ...image, brokers: fenced })
    const ask = (asked: MorePartitions) => machine.decide({ type: 'createPartitions', topics: [asked], validateOnly: false }, () => 0).reply.map(code)
    expect(ask(more('a', 2))).toEqual([38])
    expect(ask(more('a', 2, [[1, 2]]))).toEqual([39])
  })

  it('thousands that are refused are answered without a stack each', () => {
    const bench = benchWithBrokers(1)
    bench.create('a')
    for (const { error } of extend(bench, more('none', 4), more('a', 3))) expect(error!.stack).not.toMatch(/\n\s+at /)
  })
})
