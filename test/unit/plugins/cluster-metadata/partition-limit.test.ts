import { describe, expect, it } from 'vitest'
import { createBroker } from '../../../../src/broker/index.ts'

const make = (numPartitions: number, partitionsMax?: number, ofGroups = 1) => createBroker({
  preset: 'memory', broker: { 'num.partitions': numPartitions, 'offsets.topic.num.partitions': ofGroups },
  ...(partitionsMax === undefined ? {} : { settings: { 'cluster-metadata': { partitionsMax } } }),
})

describe('num.partitions', () => {
  it('above the most that a topic may have is refused with the key and both ways out', async () => {
    await expect(make(10_001)).rejects.toMatchObject({ code: 'MR_CONFIG_INVALID', details: { key: 'num.partitions', value: 10_001 } })
    await expect(make(5, 4)).rejects.toThrow(/num\.partitions: a topic has at most 4 partitions; lower it, or raise partitionsMax/)
  })

  it('of the topic of the groups above that are refused too: there would be no groups', async () => {
    await expect(make(4, 4, 5)).rejects.toThrow(/offsets\.topic\.num\.partitions: a topic has at most 4 partitions/)
  })

  it('up to that is taken', async () => {
    await expect(make(4, 4, 4)).resolves.toBeDefined()
  })
})
