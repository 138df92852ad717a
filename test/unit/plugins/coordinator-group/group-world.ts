import { handlerMakers } from '../../../../src/plugins/coordinator-group/make-handlers.ts'
import { GroupService } from '../../../../src/plugins/coordinator-group/group-service.ts'
import { type GroupMachine } from '../../../../src/plugins/coordinator-group/core/group-machine.ts'
import { groupPartition } from '../../../../src/plugins/coordinator-group/core/group-partition.ts'
import { groupObserver } from '../../../../src/plugins/coordinator-group/metrics.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { heartbeatApi, leaveGroupApi, offsetCommitApi, offsetFetchApi } from '../../../../src/wire/index.ts'
import { findCoordinatorApi } from '../../../../src/wire/messages/10-find-coordinator.ts'
import { joinGroupApi, type JoinGroupResponse } from '../../../../src/wire/messages/11-join-group.ts'
import { syncGroupApi, type SyncGroupResponse } from '../../../../src/wire/messages/14-sync-group.ts'
import { type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { TestBroker, turn } from '../protocol-kafka/fixture/test-broker.ts'
import { type TestClient } from '../protocol-kafka/fixture/test-client.ts'
import { testClusterId, type TestReplica } from '../protocol-kafka/fixture/test-cluster.ts'

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
export const text = (data: Uint8Array): string => new TextDecoder().decode(data)

const topicName = '__consumer_offsets'

/** Groups behind the protocol, over memory logs and in manual time. */
export class GroupWorld {
  readonly broker: TestBroker
  service!: GroupService

  private constructor(settings: Readonly<Record<string, string>>) {
    this.broker = new TestBroker({
      settings: { 'group.initial.rebalance.delay.ms': '0', 'offsets.topic.num.partitions': '4', 'offsets.topic.replication.factor': '1', 'offsets.retention.check.interval.ms': '5000', 'group.consumer.assignment.interval.ms': '0', ...settings },
      contribute: ({ cluster, timers, logger, metrics, compression }, brokerSettings) => {
        this.service = new GroupService({
          settings: brokerSettings, identity: { clusterId: testClusterId, nodeId: 1, incarnationId: 'AAAAAAAAAAAAAAAAAAAAAQ' },
          metadata: cluster, controller: cluster, replicator: cluster, compression, clock: timers.clock, timers, logger, observer: groupObserver(logger, metrics),
        })
        const parts = { groups: this.service, metadata: cluster, random: new SeededRandom(7), logger, assignors: brokerSettings.list('group.consumer.assignors') }
        return { handlers: handlerMakers.map((make) => make(parts)), finders: [this.service] }
      },
    })
  }

  /** With topics `orders` and `letters`, and somebody who has asked for a coordinator. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<GroupWorld> {
    const world = await GroupWorld.unasked(settings)
    await world.client().call(findCoordinatorApi, 3, { key: 'g', keyType: 0 })
    return world
  }

  /** Nobody has asked for a coordinator yet. */
  static async unasked(settings: Readonly<Record<string, string>> = {}): Promise<GroupWorld> {
    const world = new GroupWorld(settings)
    await world.service.start()
    await world.broker.server.start()
    world.broker.cluster.topic('orders', 3)
    world.broker.cluster.topic('letters', 1)
    return world
  }

  client(): TestClient {
    return this.broker.connect()
  }

  member(options: Partial<MemberOptions> = {}): TestMember {
    return new TestMember(this, this.client(), { ...memberDefaults, ...options })
  }

  /** Time passes, a second at a time, so that the broker is not taken to have stood still. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1000) {
      this.broker.timers.advance(Math.min(left, 1000))
      await turn(2)
    }
    await turn()
  }

  /** A group of these members, stable, each with its own name as assignment. */
  async stable(...members: TestMember[]): Promise<void> {
    await this.gather(...members)
    await this.share(...members)
  }

  /** All of them join one generation: those that need an id for it have one before the first joins. */
  async gather(...members: TestMember[]): Promise<JoinGroupResponse[]> {
    for (const member of members) if (member.id === '' && member.options.instanceId === null && member.options.version >= 4) await member.joinOnce()
    const joins = members.map((member) => member.joinOnce())
    await this.pass(1)
    return Promise.all(joins)
  }

  /** The leader assigns to each of them its own id. */
  async share(...members: TestMember[]): Promise<void> {
    const syncs = members.map((member) => member.sync(member.isLeader ? members : []))
    await turn()
    await Promise.all(syncs)
  }

  machine(groupId = 'g'): GroupMachine {
    return this.service.machines()[groupPartition(groupId, 4)]!.machine!
  }

  replica(groupId = 'g'): TestReplica {
    return this.broker.cluster.replica(this.broker.cluster.topics.get(topicName)!.id, groupPartition(groupId, 4))!
  }

  /** Drops what is held in memory and loads it again, as another broker or another life of this one would. */
  async reload(): Promise<void> {
    const { cluster } = this.broker
    const epoch = this.replica().leaderEpoch + 1
    for (const replica of cluster.replicasById.get(cluster.topics.get(topicName)!.id)!) replica.leaderEpoch = epoch
    cluster.replaceTopic(topicName, (image) => ({ ...image, partitions: image.partitions.map((each) => ({ ...each, leaderEpoch: epoch })) }))
    await this.pass(1)
  }

  /** `topic-partition` of each. */
  named(lists: readonly { readonly topicId: string, readonly partitions: readonly number[] }[]): string[] {
    const names = new Map([...this.broker.cluster.topics.values()].map(({ id, name }) => [id, name]))
    return lists.flatMap(({ topicId, partitions }) => partitions.map((partition) => `${names.get(topicId) ?? topicId}-${partition}`)).sort()
  }

  listed(owned: readonly string[]): { topicId: string, partitions: number[] }[] {
    const byTopic = new Map<string, number[]>()
    for (const each of owned) {
      const dash = each.lastIndexOf('-')
      const topicId = this.broker.cluster.topics.get(each.slice(0, dash))!.id
      byTopic.set(topicId, [...byTopic.get(topicId) ?? [], Number(each.slice(dash + 1))])
    }
    return [...byTopic].map(([topicId, partitions]) => ({ topicId, partitions }))
  }

  async committed(topic = 'orders', partition = 0, groupId = 'g'): Promise<number> {
    const { groups } = await this.client().call(offsetFetchApi, 8, { groups: [{ groupId, topics: [{ name: topic, partitionIndexes: [partition] }] }] })
    return groups[0]!.topics[0]!.partitions[0]!.committedOffset
  }
}

export interface MemberOptions {
  readonly groupId: string
  readonly instanceId: string | null
  readonly protocolType: string
  readonly protocols: readonly string[]
  readonly topics: readonly string[]
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly version: number
}

const memberDefaults: MemberOptions = {
  groupId: 'g', instanceId: null, protocolType: 'consumer', protocols: ['range'], topics: ['orders'], sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 30_000, version: 9,
}

/** A member that keeps what it was told. */
export class TestMember {
  readonly client: TestClient
  options: MemberOptions
  id = ''
  generation = -1
  isLeader = false
  assignment = ''
  /** That the group has chosen. */
  protocolName = ''
  private readonly world: GroupWorld

  constructor(world: GroupWorld, client: TestClient, options: MemberOptions) {
    this.world = world
    this.client = client
    this.options = options
  }

  get claim(): { memberId: string, groupInstanceId: string | null } {
    return { memberId: this.id, groupInstanceId: this.options.instanceId }
  }

  joinRequest(): RequestDraftOf<typeof joinGroupApi> {
    const { groupId, instanceId, protocolType, protocols, topics, sessionTimeoutMs, rebalanceTimeoutMs, version } = this.options
    return {
      groupId, sessionTimeoutMs, ...(version >= 1 ? { rebalanceTimeoutMs } : {}), memberId: this.id, ...(version >= 5 ? { groupInstanceId: instanceId } : {}), protocolType,
      protocols: protocols.map((name) => ({ name, metadata: encodeSubscription(1, { topics, userData: bytes(`${name} of ${instanceId ?? 'somebody'}`) }) })),
    }
  }

  /** One request; takes up what it is told. */
  async joinOnce(): Promise<JoinGroupResponse> {
    const answer = await this.client.call(joinGroupApi, this.options.version, this.joinRequest())
    if (answer.errorCode === 0 || answer.errorCode === 79) this.id = answer.memberId
    if (answer.errorCode === 0) {
      this.generation = answer.generationId
      this.protocolName = answer.protocolName ?? ''
      this.isLeader = answer.leader === answer.memberId
    }
    return answer
  }

  /** As clients do: once more with the id that it was given. */
  async join(): Promise<JoinGroupResponse> {
    const answer = await this.joinOnce()
    return answer.errorCode === 79 ? this.joinOnce() : answer
  }

  async sync(members: readonly TestMember[] = [], more: object = {}): Promise<SyncGroupResponse> {
    const version = Math.min(this.options.version, 5)
    const answer = await this.client.call(syncGroupApi, version, {
      groupId: this.options.groupId, generationId: this.generation, memberId: this.id, ...(version >= 3 ? { groupInstanceId: this.options.instanceId } : {}),
      ...(version >= 5 ? { protocolType: this.options.protocolType, protocolName: this.protocolName } : {}),
      assignments: members.map(({ id }) => ({ memberId: id, assignment: bytes(`all for ${id}`) })), ...more,
    })
    if (answer.errorCode === 0) this.assignment = text(answer.assignment)
    return answer
  }

  async heartbeat(more: object = {}): Promise<number> {
    return (await this.client.call(heartbeatApi, 4, { groupId: this.options.groupId, generationId: this.generation, ...this.claim, ...more })).errorCode
  }

  async leave(): Promise<number> {
    const { errorCode, members } = await this.client.call(leaveGroupApi, 5, { groupId: this.options.groupId, members: [this.claim] })
    return errorCode === 0 ? members[0]!.errorCode : errorCode
  }

  async commit(offset: number, more: object = {}, partition: object = {}): Promise<number> {
    const { topics } = await this.client.call(offsetCommitApi, 8, {
      groupId: this.options.groupId, generationIdOrMemberEpoch: this.generation, ...this.claim, ...more,
      topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: offset, committedMetadata: '', ...partition }] }],
    } as RequestDraftOf<typeof offsetCommitApi>)
    return topics[0]!.partitions[0]!.errorCode
  }

  /** The world of the member. */
  get of(): GroupWorld {
    return this.world
  }
}
