import { describe, expect, it } from 'vitest'
import { deleteGroupsApi, describeGroupsApi, listGroupsApi, offsetCommitApi } from '../../../../src/wire/index.ts'
import { findCoordinatorApi } from '../../../../src/wire/messages/10-find-coordinator.ts'
import { turn } from '../protocol-kafka/fixture/test-broker.ts'
import { GroupWorld, text } from './group-world.ts'

const commitAlone = (world: GroupWorld, groupId: string): Promise<unknown> => world.client().call(offsetCommitApi, 8, {
  groupId, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }],
})

describe('FindCoordinator', () => {
  it('quirk 52: names a coordinator for a group that nobody has heard of; the topic is made for it, once', async () => {
    const world = await GroupWorld.start()
    const client = world.client()
    for (const version of [0, 1, 3]) expect(await client.call(findCoordinatorApi, version, { key: 'new', ...(version > 0 ? { keyType: 0 } : {}) })).toMatchObject({ errorCode: 0, nodeId: 1, host: '127.0.0.1', port: 9092 })
    expect(world.broker.cluster.creations.map(({ name, partitions, replicationFactor, configs }) => ({ name, partitions, replicationFactor, configs: Object.fromEntries(configs) }))).toEqual([
      { name: '__consumer_offsets', partitions: 4, replicationFactor: 1, configs: { 'cleanup.policy': 'compact', 'compression.type': 'producer', 'segment.bytes': '104857600' } },
    ])
  })

  it('quirk 52: from v4 on has an array also for one key, and nothing beside it; quirk 54: one result a key', async () => {
    const world = await GroupWorld.start()
    const answer = await world.client().call(findCoordinatorApi, 6, { keyType: 0, coordinatorKeys: ['a', 'b', 'a'] })
    expect(answer).toMatchObject({ errorCode: 0, nodeId: 0, host: '', port: 0 })
    expect(answer.coordinators.map(({ key, nodeId, errorCode }) => [key, nodeId, errorCode])).toEqual([['a', 1, 0], ['b', 1, 0], ['a', 1, 0]])
    expect((await world.client().call(findCoordinatorApi, 4, { keyType: 0, coordinatorKeys: [] })).coordinators).toEqual([])
  })

  it('of a partition without a leader, and of a topic that cannot be made, is COORDINATOR_NOT_AVAILABLE with the reason', async () => {
    const world = await GroupWorld.start({ 'offsets.topic.replication.factor': '3' })
    expect(await world.client().call(findCoordinatorApi, 3, { key: 'g', keyType: 0 })).toMatchObject({ errorCode: 15, errorMessage: expect.stringContaining('one broker') as string })
    const other = await GroupWorld.start()
    other.broker.cluster.replaceTopic('__consumer_offsets', (image) => ({ ...image, partitions: image.partitions.map((each) => ({ ...each, leader: -1 })) }))
    expect(await other.client().call(findCoordinatorApi, 3, { key: 'g', keyType: 0 })).toMatchObject({ errorCode: 15, errorMessage: expect.stringContaining('no leader') as string })
  })

  it('that waits for the topic for 2 s is COORDINATOR_NOT_AVAILABLE; the next one finds it', async () => {
    const world = await GroupWorld.start()
    world.broker.cluster.drop('__consumer_offsets')
    let open = (): void => undefined
    world.broker.cluster.creationGate = new Promise((resolve) => { open = resolve })
    const asked = world.client().call(findCoordinatorApi, 4, { coordinatorKeys: ['g', 'h'], keyType: 0 })
    await world.pass(2000)
    expect((await asked).coordinators.map(({ errorCode }) => errorCode)).toEqual([15, 15])
    open()
    await turn()
    expect(world.broker.cluster.creations).toHaveLength(2)
    expect((await world.client().call(findCoordinatorApi, 3, { key: 'g', keyType: 0 })).errorCode).toBe(0)
  })

  it('of transactions and share groups says that there is none, for ever', async () => {
    const world = await GroupWorld.start()
    expect(await world.client().call(findCoordinatorApi, 3, { key: 't', keyType: 1 })).toMatchObject({ errorCode: 35, errorMessage: expect.stringContaining('leave transactional.id unset') as string })
    for (const version of [4, 6]) expect((await world.client().call(findCoordinatorApi, version, { coordinatorKeys: ['t'], keyType: 1 })).coordinators[0]!.errorCode).toBe(35)
    expect((await world.client().call(findCoordinatorApi, 6, { coordinatorKeys: ['s'], keyType: 2 })).coordinators[0]!.errorCode).toBe(35)
  })

  it('of transactions up to version 2 names this broker, which refuses in InitProducerId: kafkajs and librdkafka make nothing of a refusal here', async () => {
    const world = await GroupWorld.start()
    for (const version of [1, 2]) expect(await world.client().call(findCoordinatorApi, version, { key: 't', keyType: 1 })).toMatchObject({ errorCode: 0, nodeId: 1, host: '127.0.0.1', port: 9092 })
  })
})

describe('DescribeGroups', () => {
  it('quirk 53: tells what members gave and got of a stable group alone', async () => {
    const world = await GroupWorld.start()
    const member = world.member({ instanceId: 'i' })
    await world.gather(member)
    const describeIt = async (version = 5): Promise<unknown> => (await world.client().call(describeGroupsApi, version, { groups: ['g'] })).groups[0]!
    expect(await describeIt()).toMatchObject({ errorCode: 0, groupState: 'CompletingRebalance', protocolType: 'consumer', protocolData: '', members: [{ memberId: member.id, memberMetadata: new Uint8Array(0) }] })
    await world.share(member)
    expect(await describeIt()).toMatchObject({ groupState: 'Stable', protocolType: 'consumer', protocolData: 'range', authorizedOperations: -2_147_483_648,
      members: [{ memberId: member.id, groupInstanceId: 'i', clientId: 'test', clientHost: '/127.0.0.1' }] })
    const { groups } = await world.client().call(describeGroupsApi, 6, { groups: ['g', 'unknown'], includeAuthorizedOperations: true })
    expect(text(groups[0]!.members[0]!.memberAssignment)).toBe(`all for ${member.id}`)
    expect(groups.map(({ authorizedOperations }) => authorizedOperations)).toEqual([0b1101_0100_1000, -2_147_483_648])
  })

  it('quirk 53: a group that is not there is a dead one without error up to v5, and GROUP_ID_NOT_FOUND in v6; one result each (quirk 54)', async () => {
    const world = await GroupWorld.start()
    expect((await world.client().call(describeGroupsApi, 5, { groups: ['x', 'y'] })).groups).toMatchObject([{ groupId: 'x', errorCode: 0, groupState: 'Dead', members: [] }, { groupId: 'y', errorCode: 0 }])
    expect((await world.client().call(describeGroupsApi, 6, { groups: ['x'] })).groups).toMatchObject([{ errorCode: 69, errorMessage: 'group x is not there', groupState: 'Dead' }])
  })
})

describe('ListGroups', () => {
  it('quirk 53: lists groups of all partitions; filters of state and type take letters of either case, and types are told in lower case', async () => {
    const world = await GroupWorld.start()
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((groupId) => commitAlone(world, groupId)))
    await world.stable(world.member())
    const list = async (filters: object, version = 5): Promise<string[]> => (await world.client().call(listGroupsApi, version, filters)).groups
      .map(({ groupId, protocolType, groupState, groupType }) => [groupId, protocolType, groupState, groupType].join(' ')).sort()
    expect(await list({})).toEqual(['a  Empty classic', 'b  Empty classic', 'c  Empty classic', 'd  Empty classic', 'e  Empty classic', 'g consumer Stable classic'])
    expect(await list({ statesFilter: ['sTABLE'], typesFilter: [] })).toEqual(['g consumer Stable classic'])
    expect(await list({ statesFilter: ['Empty', 'Dead'], typesFilter: ['Classic'] })).toHaveLength(5)
    expect(await list({ statesFilter: [], typesFilter: ['consumer', 'share'] })).toEqual([])
    expect(await list({}, 0)).toHaveLength(6)
  })

  it('is empty where nobody has ever asked for a coordinator', async () => {
    const world = await GroupWorld.start()
    world.broker.cluster.drop('__consumer_offsets')
    await turn()
    expect(await world.client().call(listGroupsApi, 5, {})).toMatchObject({ errorCode: 0, groups: [] })
  })
})

describe('DeleteGroups', () => {
  it('deletes groups without members with all that they have committed, and refuses others; after a reload they are gone still', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 'h')
    const member = world.member()
    await world.stable(member)
    await member.commit(4)
    const remove = async (): Promise<unknown> => (await world.client().call(deleteGroupsApi, 2, { groupsNames: ['h', 'nobody', 'g'] })).results.map(({ groupId, errorCode }) => [groupId, errorCode])
    expect(await remove()).toEqual([['h', 0], ['nobody', 69], ['g', 68]])
    await member.leave()
    expect(await remove()).toEqual([['h', 69], ['nobody', 69], ['g', 0]])
    await world.reload()
    expect(await world.committed()).toBe(-1)
    expect((await world.client().call(listGroupsApi, 5, {})).groups).toEqual([])
  })
})

describe('metrics, log and health', () => {
  it('tell of groups by state, their members and offsets, rebalances, and partitions that cannot be loaded', async () => {
    const { observeGroups } = await import('../../../../src/plugins/coordinator-group/metrics.ts')
    const world = await GroupWorld.start()
    observeGroups(world.broker.metrics, () => world.service.machines())
    await world.stable(world.member(), world.member())
    await commitAlone(world, 'h')
    expect(world.broker.metrics.value('millrace_groups')).toEqual([['Empty', 1], ['PreparingRebalance', 0], ['CompletingRebalance', 0], ['Assigning', 0], ['Reconciling', 0], ['Stable', 1]].map(([state, value]) => ({ labels: { state }, value })))
    expect(world.broker.metrics.value('millrace_group_members')).toBe(2)
    expect(world.broker.metrics.value('millrace_group_offsets')).toBe(1)
    expect(world.broker.metrics.count('millrace_group_rebalances_total')).toBe(1)
    expect(world.broker.metrics.value('millrace_group_partitions')).toContainEqual({ labels: { state: 'active' }, value: 4 })
    expect(world.broker.logger.lines.map(({ message }) => message)).toEqual(expect.arrayContaining(['a group rebalances', 'a group is stable']))
    expect(world.service.check()).toEqual({ state: 'ok', detail: '' })
    world.replica().failure = new Error('a disk')
    await world.reload()
    expect(world.service.check().state).toBe('degraded')
  })
})
