import { describe, expect, it } from 'vitest'
import { observeLag } from '../../../../src/plugins/coordinator-group/lag-metrics.ts'
import { RecordingMetrics } from '../../../../src/testkit/world/recording-telemetry.ts'
import { offsetCommitApi } from '../../../../src/wire/index.ts'
import { GroupWorld } from './group-world.ts'

async function lagWorld(seriesMax = 100) {
  const world = await GroupWorld.start()
  const metrics = new RecordingMetrics()
  const { cluster } = world.broker
  observeLag(metrics, { machines: () => world.service.machines(), metadata: cluster, replicator: cluster }, seriesMax)
  const commit = async (groupId: string, partitionIndex: number, committedOffset: number): Promise<void> => {
    await world.client().call(offsetCommitApi, 8, {
      groupId, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 'orders', partitions: [{ partitionIndex, committedOffset, committedMetadata: null }] }],
    })
  }
  const replicas = cluster.replicasById.get(cluster.topics.get('orders')!.id)!
  const lag = (): Record<string, number> => Object.fromEntries((metrics.value('millrace_group_lag_records') as { labels: Record<string, string>, value: number }[])
    .map(({ labels, value }) => [`${labels['group']} ${labels['topic']}-${labels['partition']}`, value]))
  return { world, commit, replicas, lag, leftOut: () => metrics.value('millrace_group_lag_left_out') }
}

describe('the lag of groups in /metrics', () => {
  it('is what lies between the committed offset and the high watermark, and never below nothing', async () => {
    const { commit, replicas, lag, leftOut } = await lagWorld()
    expect(lag()).toEqual({})
    await commit('g', 0, 3)
    await commit('g', 1, 10)
    await commit('h', 0, 0)
    replicas[0]!.highWatermark = 10
    replicas[1]!.highWatermark = 4
    expect(lag()).toEqual({ 'g orders-0': 7, 'g orders-1': 0, 'h orders-0': 10 })
    await commit('g', 0, 10)
    expect(lag()).toMatchObject({ 'g orders-0': 0 })
    expect(leftOut()).toBe(0)
  })

  it('is told of partitions that this broker leads alone, and of topics that are there', async () => {
    const { world, commit, replicas, lag } = await lagWorld()
    await commit('g', 0, 1)
    await commit('g', 1, 1)
    replicas[1]!.leader = false
    expect(Object.keys(lag())).toEqual(['g orders-0'])
    world.broker.cluster.topics.delete('orders')
    expect(lag()).toEqual({})
  })

  it('is told of so many partitions at most, and how many are left out', async () => {
    const { commit, lag, leftOut } = await lagWorld(4)
    for (let group = 0; group < 5; group++) for (const partition of [0, 1]) await commit(`g${group}`, partition, 0)
    expect([Object.keys(lag()).length, leftOut()]).toEqual([4, 6])
  })
})
