import { consumerGroupDescribeApi, consumerGroupHeartbeatApi, describeGroupsApi, listGroupsApi, offsetCommitApi } from '../../../../src/wire/index.ts'
import { encodeAssignment, encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'
import { ClassicMember } from './classic-groups.ts'

type Beat = RequestDraftOf<typeof consumerGroupHeartbeatApi>

const joining = { memberEpoch: 0, rebalanceTimeoutMs: 30_000, topicPartitions: [] }

/** A member of the consumer protocol, that keeps what it is told. */
class Member {
  id: string
  epoch = 0
  /** Whether it is compared which partitions it has; else only how many. */
  showsNumbers = true
  /** The first epoch that it was told. */
  first = 0
  readonly talk: Talk
  readonly groupId: string
  readonly version: number

  constructor (talk: Talk, groupId: string, version: number, id = '') {
    this.talk = talk
    this.groupId = groupId
    this.version = version
    // v0 makes the id, in v1 the member has one
    this.id = id === '' && version >= 1 ? `member-${groupId.slice(-8)}` : id
  }

  async beat (step: string, more: Partial<Beat> = {}): Promise<number> {
    const answer = await this.talk.ask(step, consumerGroupHeartbeatApi, this.version, { groupId: this.groupId, memberId: this.id, memberEpoch: this.epoch, ...more },
      ({ memberEpoch, assignment, ...rest }) => ({ ...rest, epochs: this.since(memberEpoch), assignment: assignment && assignment.topicPartitions.map(t => this.showsNumbers ? t.partitions : t.partitions.length) }))
    if (typeof answer === 'string') return -1
    if (answer.errorCode !== 0) return answer.errorCode
    this.id = answer.memberId ?? this.id
    this.epoch = answer.memberEpoch
    return 0
  }

  /** Epochs count from any number: Kafka's first one is 2. */
  since (epoch: number): string | number {
    if (epoch <= 0) return epoch
    this.first ||= epoch
    return `first + ${epoch - this.first}`
  }

  join (step: string, topics: string[] | null, more: Partial<Beat> = {}): Promise<number> {
    return this.beat(step, { ...joining, subscribedTopicNames: topics, ...more })
  }
}

const beats: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('read', 3)
  const topicId = await talk.topicId(name)
  const refused = async (step: string, more: Partial<Beat>): Promise<void> => {
    await new Member(talk, talk.topic('refused'), version).join(step, [name], more)
  }
  await refused('empty group', { groupId: '' })
  await refused('epoch -3', { memberEpoch: -3 })
  await refused('leaves for a while without an instance', { memberEpoch: -2 })
  await refused('leaves a group that is not there', { memberEpoch: -1, memberId: 'nobody' })
  await refused('an epoch of a group that is not there', { memberEpoch: 4, memberId: 'nobody' })
  await refused('an empty instance', { instanceId: '' })
  await refused('an empty rack', { rackId: '' })
  await refused('an unknown assignor', { serverAssignor: 'no such assignor' })
  await refused('no rebalance timeout', { rebalanceTimeoutMs: -1 })
  await refused('no partitions said', { topicPartitions: null })
  await refused('partitions owned', { topicPartitions: [{ topicId, partitions: [0] }] })
  await refused('no topics said', { subscribedTopicNames: null })
  await refused('no member id', { memberId: '' })
  if (version >= 1) {
    await refused('no topics, and a pattern that is none', { subscribedTopicNames: null, subscribedTopicRegex: '(' })
    await refused('topics, and a pattern that is none', { subscribedTopicRegex: '(' })
  }

  await new Member(talk, talk.topic('empty-0'), version).join('an empty list of topics', [])
  if (version >= 1) {
    await new Member(talk, talk.topic('empty-1'), version).join('an empty pattern', null, { subscribedTopicRegex: '' })
    await new Member(talk, talk.topic('empty-2'), version).join('an empty list and an empty pattern', [], { subscribedTopicRegex: '' })
    await new Member(talk, talk.topic('empty-3'), version).join('a pattern that no topic has', null, { subscribedTopicRegex: 'no-such-topic-.*' })
  }
  await new Member(talk, talk.topic('missing'), version).join('a topic that is not there', [talk.topic('unknown')])

  const member = new Member(talk, talk.topic('joined'), version)
  await member.join('joined', [name])
  await member.beat('nothing new')
  await member.beat('says what it owns', { topicPartitions: [{ topicId, partitions: [0, 1, 2] }] })
  await member.beat('an earlier epoch', { memberEpoch: member.epoch - 1 || 99 })
  await member.beat('a later epoch', { memberEpoch: member.epoch + 1 })
  await member.beat('an instance that it is not', { instanceId: 'i' })
  await new Member(talk, member.groupId, version, 'nobody').beat('unknown member', { memberEpoch: 1 })
  await member.beat('no topics any more', { subscribedTopicNames: [] })
  await member.beat('gives all up', { topicPartitions: [] })
  await member.beat('the topic again', { subscribedTopicNames: [name] })
  await member.join('joined again', [name])
  await member.beat('leaves', { memberEpoch: -1 })
  await member.beat('after it has left', { memberEpoch: 1 })
  await member.beat('leaves again', { memberEpoch: -1 })

  const fixed = new Member(talk, talk.topic('static'), version)
  await fixed.join('static', [name], { instanceId: 'i' })
  await new Member(talk, fixed.groupId, version, 'other').join('another of the instance', [name], { instanceId: 'i' })
  await fixed.beat('leaves for a while', { memberEpoch: -2, instanceId: 'i' })
  const back = new Member(talk, fixed.groupId, version, 'back')
  await back.join('the instance comes back', [name], { instanceId: 'i' })
  await fixed.beat('its former self', { memberEpoch: 1, instanceId: 'i' })
}

/** Two members: what one is to have the other gives up first. */
const moves: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('moved', 2)
  const topicId = await talk.topicId(name)
  const group = talk.topic('group')
  const [first, second] = [new Member(talk, group, version, version >= 1 ? 'first' : ''), new Member(talk, group, version, version >= 1 ? 'second' : '')]
  const owning = (...partitions: number[]): Partial<Beat> => ({ topicPartitions: partitions.length === 0 ? [] : [{ topicId, partitions }] })
  await first.join('first', [name])
  await second.join('second', [name])
  await first.beat('first is to give up', owning(0, 1))
  await second.beat('second waits', owning())
  await first.beat('first has given up', owning(0))
  await second.beat('second has its part', owning())
  await second.beat('second owns it', owning(1))
  await first.beat('all is done')
  await second.beat('second leaves', { memberEpoch: -1 })
  await first.beat('first has all again', owning(0))
}

const described: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('read', 2)
  const describe = async (step: string, groupIds: string[], more: object = {}): Promise<void> => {
    await talk.ask(step, consumerGroupDescribeApi, version, { groupIds, includeAuthorizedOperations: false, ...more },
      // Kafka answers in an order of its own
      answer => [...answer.groups].sort((a, b) => a.groupId < b.groupId ? -1 : 1).map(({ groupEpoch, assignmentEpoch, members, ...rest }) => ({
        ...rest, groupEpoch: member.since(groupEpoch), assignmentEpoch: member.since(assignmentEpoch),
        members: members.map(({ memberEpoch, ...about }) => ({ ...about, memberEpoch: member.since(memberEpoch) })),
      })))
  }
  const member = new Member(talk, talk.topic('shown'), 1)
  await describe('unknown', [talk.topic('unknown')])
  await describe('empty name', [''])
  await describe('none', [])
  const classic = new ClassicMember(talk, talk.topic('classic'), 9)
  await classic.enter('classic')
  await describe('a classic one', [classic.groupId])
  await member.join('joined', [name], { instanceId: 'i', rackId: 'r' })
  await describe('stable', [member.groupId])
  await describe('twice, and an unknown one', [member.groupId, member.groupId, talk.topic('unknown')])
  await describe('with operations', [member.groupId, talk.topic('unknown')], { includeAuthorizedOperations: true })
  await talk.ask('by DescribeGroups', describeGroupsApi, 6, { groups: [member.groupId] })
  await talk.ask('by ListGroups', listGroupsApi, 5, {}, ({ groups }) => groups.filter(({ groupId }) => groupId === member.groupId))
  await member.beat('left', { memberEpoch: -1, instanceId: 'i' })
  await describe('empty', [member.groupId])
}

/** A member of the consumer protocol comes to a group of the classic one. */
const migrated: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('read', 2)
  const subscription = (userData: Uint8Array | null): Uint8Array => encodeSubscription(1, { topics: [name], userData, ownedPartitions: [] })
  const assignment = (userData: Uint8Array | null): Uint8Array => encodeAssignment(1, { assignedPartitions: [{ topic: name, partitions: [0, 1] }], userData })
  const cases: [string, Uint8Array, Uint8Array | null, string][] = [
    ['plain', subscription(null), assignment(null), 'consumer'],
    ['empty user data assigned', subscription(null), assignment(new Uint8Array(0)), 'consumer'],
    ['user data assigned', subscription(null), assignment(Uint8Array.of(1)), 'consumer'],
    ['user data subscribed', subscription(Uint8Array.of(1)), assignment(null), 'consumer'],
    ['nothing assigned', subscription(null), new Uint8Array(0), 'consumer'],
    ['no assignment that can be read', subscription(null), Uint8Array.of(0, 1, 9), 'consumer'],
    ['no subscription that can be read', Uint8Array.of(0, 1, 9), assignment(null), 'consumer'],
    ['not assigned yet', subscription(null), null, 'consumer'],
    ['another type', subscription(null), assignment(null), 'connect'],
  ]
  for (const [label, metadata, part, protocolType] of cases) {
    const classic = new ClassicMember(talk, talk.topic(label.replaceAll(' ', '-')), 9, { protocolType, protocols: [{ name: 'range', metadata }] })
    await classic.enter(`${label}: classic`)
    if (part !== null) await classic.sync(`${label}: assigned`, { assignments: [{ memberId: classic.id, assignment: part }] })
    const member = new Member(talk, classic.groupId, version, version >= 1 ? 'm' : '')
    // Where the leader assigned nothing, whose they are goes by an order of the members that each broker has for itself
    member.showsNumbers = false
    await member.join(`${label}: the other comes`, [name])
    await classic.heartbeat(`${label}: the classic one is heard`)
    await talk.ask(`${label}: what it is`, listGroupsApi, 5, {}, ({ groups }) => groups.filter(({ groupId }) => groupId === classic.groupId))
  }
  // A group of which there are only offsets
  await talk.quietly(offsetCommitApi, 8, {
    groupId: talk.topic('offsets'), generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name, partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }] }],
  })
  await new Member(talk, talk.topic('offsets'), version).join('to offsets alone', [name])
}

export const consumerGroupScenarios: readonly Scenario[] = [
  scenario(consumerGroupHeartbeatApi, 'members', [0, 1], beats),
  scenario(consumerGroupHeartbeatApi, 'partitions that move', [0, 1], moves),
  scenario(consumerGroupHeartbeatApi, 'classic groups', [0, 1], migrated),
  scenario(consumerGroupDescribeApi, 'groups looked at', [0, 1], described),
]
