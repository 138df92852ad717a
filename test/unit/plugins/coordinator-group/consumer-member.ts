import { consumerGroupHeartbeatApi, type ConsumerGroupHeartbeatResponse } from '../../../../src/wire/messages/68-consumer-group-heartbeat.ts'
import { consumerGroupDescribeApi, type ConsumerGroupDescribeResponse } from '../../../../src/wire/messages/69-consumer-group-describe.ts'
import { offsetCommitApi, offsetFetchApi } from '../../../../src/wire/index.ts'
import { type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { type TestClient } from '../protocol-kafka/fixture/test-client.ts'
import { type GroupWorld } from './group-world.ts'

type HeartbeatRequest = RequestDraftOf<typeof consumerGroupHeartbeatApi>

/** `topic-partition`, in order. */
export type Owned = readonly string[]

/** A member of the consumer protocol, that does what it is told when it is told. */
export class ConsumerMember {
  readonly client: TestClient
  readonly world: GroupWorld
  id: string
  epoch = 0
  instanceId: string | null
  topics: readonly string[]
  pattern: string | null = null
  rebalanceTimeoutMs = 30_000
  serverAssignor: string | null = null
  groupId = 'g'
  /** What it reads, as it was last told. */
  owned: Owned = []

  constructor(world: GroupWorld, id: string, topics: readonly string[] = ['orders'], instanceId: string | null = null) {
    this.world = world
    this.client = world.client()
    this.id = id
    this.topics = topics
    this.instanceId = instanceId
  }

  async beat(more: Partial<HeartbeatRequest> = {}): Promise<ConsumerGroupHeartbeatResponse> {
    const answer = await this.client.call(consumerGroupHeartbeatApi, 1, { groupId: this.groupId, memberId: this.id, memberEpoch: this.epoch, instanceId: this.instanceId, ...more })
    if (answer.errorCode !== 0) return answer
    this.epoch = answer.memberEpoch
    if (answer.assignment !== null) this.owned = this.world.named(answer.assignment.topicPartitions)
    return answer
  }

  join(more: Partial<HeartbeatRequest> = {}): Promise<ConsumerGroupHeartbeatResponse> {
    this.epoch = 0
    this.owned = []
    return this.beat({
      memberEpoch: 0, rebalanceTimeoutMs: this.rebalanceTimeoutMs, subscribedTopicNames: this.pattern === null ? this.topics : null, subscribedTopicRegex: this.pattern,
      serverAssignor: this.serverAssignor, topicPartitions: [], ...more,
    })
  }

  /** A heartbeat that says what it has. */
  confirm(owned: Owned = this.owned): Promise<ConsumerGroupHeartbeatResponse> {
    return this.beat({ topicPartitions: this.world.listed(owned) })
  }

  leave(epoch = -1): Promise<ConsumerGroupHeartbeatResponse> {
    return this.beat({ memberEpoch: epoch })
  }

  async commit(offset: number, epoch = this.epoch, version = 9, partition = 0): Promise<number> {
    const { topics } = await this.client.call(offsetCommitApi, version, {
      groupId: this.groupId, generationIdOrMemberEpoch: epoch, memberId: this.id, ...(version >= 7 ? { groupInstanceId: this.instanceId } : {}),
      topics: [{ name: 'orders', partitions: [{ partitionIndex: partition, committedOffset: offset, committedMetadata: '' }] }],
    })
    return topics[0]!.partitions[0]!.errorCode
  }

  async fetch(epoch = this.epoch, memberId: string | null = this.id): Promise<readonly [code: number, offset: number | undefined]> {
    const { groups } = await this.client.call(offsetFetchApi, 9, { groups: [{ groupId: this.groupId, memberId, memberEpoch: epoch, topics: [{ name: 'orders', partitionIndexes: [0] }] }] })
    return [groups[0]!.errorCode, groups[0]!.topics[0]?.partitions[0]?.committedOffset]
  }
}

export async function describeConsumers(world: GroupWorld, groupId = 'g', version = 1): Promise<ConsumerGroupDescribeResponse['groups'][number]> {
  return (await world.client().call(consumerGroupDescribeApi, version, { groupIds: [groupId], includeAuthorizedOperations: false })).groups[0]!
}

/** Heartbeats of all, again and again, until nothing changes any more. */
export async function settle(...members: ConsumerMember[]): Promise<void> {
  for (let round = 0; round < 6; round++) for (const member of members) await member.confirm()
}
