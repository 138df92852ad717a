import { describe, expect, it } from 'vitest'
import { type GaugeSample } from '../../../../src/kernel/ports/telemetry.ts'
import { type Replica } from '../../../../src/kernel/ports/replicator.ts'
import { observePartitions } from '../../../../src/plugins/replication-single/partition-metrics.ts'
import { RecordingMetrics } from '../../../../src/testkit/world/recording-telemetry.ts'

const names = ['start_offset', 'end_offset', 'high_watermark', 'bytes', 'segments']

function observed(partitionsMax: number) {
  const replicas: Replica[] = []
  const metrics = new RecordingMetrics()
  observePartitions(metrics, () => replicas, partitionsMax)
  const put = (topic: string, partition: number, [startOffset, endOffset, highWatermark, sizeBytes, segmentCount]: readonly (number | undefined)[]): void => {
    replicas.push({ highWatermark, log: { id: { topic, topicId: 'id', partition }, startOffset, endOffset, highWatermark: 0, sizeBytes, segmentCount } } as unknown as Replica)
  }
  const told = (name: string): Record<string, number> => Object.fromEntries((metrics.value(`millrace_log_partition_${name}`) as readonly GaugeSample[]).map(({ labels, value }) => [`${labels['topic']}-${labels['partition']}`, value]))
  return { replicas, put, told, leftOut: () => metrics.value('millrace_log_partitions_left_out') }
}

describe('the gauges of partitions', () => {
  it('tell offsets and size of each as they are now; segments of those that have some', () => {
    const { replicas, put, told, leftOut } = observed(10)
    put('orders', 0, [3, 20, 18, 5000, 2])
    put('orders', 1, [0, 0, 0, 0, undefined])
    expect(names.map((name) => told(name)['orders-0'])).toEqual([3, 20, 18, 5000, 2])
    expect(names.map((name) => told(name)['orders-1'])).toEqual([0, 0, 0, 0, undefined])
    replicas.shift()
    expect(Object.keys(told('end_offset'))).toEqual(['orders-1'])
    expect(leftOut()).toBe(0)
  })

  it('are told of so many partitions at most, and how many are left out', () => {
    const { put, told, leftOut } = observed(3)
    for (let partition = 0; partition < 5; partition++) put('orders', partition, [0, 0, 0, 0, 1])
    for (const name of names) expect(Object.keys(told(name))).toEqual(['orders-0', 'orders-1', 'orders-2'])
    expect(leftOut()).toBe(2)
  })

  it('are told of none where the bound is 0', () => {
    const { put, told, leftOut } = observed(0)
    put('orders', 0, [0, 0, 0, 0, 1])
    expect([told('bytes'), leftOut()]).toEqual([{}, 1])
  })
})
