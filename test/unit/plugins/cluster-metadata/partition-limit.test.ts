import { describe, expect, it } from 'vitest'
import { createBroker } from '../../../../src/broker/index.ts'

const make = (numPartitions: number, partitionsMax?: number) => createBroker({
  preset: 'memory', broker: { 'num.partitions': numPartitions },
  ...(partitionsMax === undefined ? {} : { settings: { 'cluster-metadata': { partitionsMax } } }),
})

describe('num.partitions', () => {
  it('above the most that a topic may have is refused with the key and both ways out', async () => {
    await expect(make(10_001)).rejects.toMatchObject({ code: 'MR_CONFIG_INVALID', details: { key: 'num.partitions', value: 10_001 } })
    await expect(make(5, 4)).rejects.toThrow(/num\.partitions: a topic has at most 4 partitions; lower it, or raise partitionsMax/)
  })

  it('up to that is taken', async () => {
    await expect(make(4, 4)).resolves.toBeDefined()
  })
})
