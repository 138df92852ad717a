import { offsetCommitApi, offsetDeleteApi, offsetFetchApi } from '../../../../src/wire/index.ts'
import { encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'
import { stableMember } from './classic-groups.ts'

type Commit = RequestDraftOf<typeof offsetCommitApi>
type Partition = Partial<Commit['topics'][number]['partitions'][number]>

/** In an order of ours: Kafka has orders of its own, and puts faulty partitions first. */
function sorted<P extends { readonly partitionIndex: number }, T extends { readonly name: string; readonly topicId?: string; readonly partitions: readonly P[] }> (topics: readonly T[], known: string): T[] {
  const isFirst = (topic: T): boolean => topic.name === known || topic.topicId === known
  return [...topics].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)) || (a.name < b.name ? -1 : 1))
    .map(topic => ({ ...topic, partitions: [...topic.partitions].sort((a, b) => a.partitionIndex - b.partitionIndex) }))
}

const unknownId = 'AAAAAAAAAAAAAAAAAAAAEA'

/** A group that reads the topic, in which somebody has joined and been assigned. */
const reader = (talk: Talk, label: string, topic: string): ReturnType<typeof stableMember> =>
  stableMember(talk, talk.topic(label), { protocols: [{ name: 'range', metadata: encodeSubscription(1, { topics: [topic], userData: null, ownedPartitions: [] }) }] })

/** Commits as somebody who is in no group. */
async function commitAlone (talk: Talk, groupId: string, name: string, partitions: Partition[]): Promise<void> {
  await talk.quietly(offsetCommitApi, 8, {
    groupId, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name, partitions: partitions.map(p => ({ partitionIndex: 0, committedOffset: 1, committedMetadata: 'm', ...p })) }],
  })
}

const committed: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('committed', 2)
  const topicId = await talk.topicId(name)
  const topicOf = (label: string): { name: string } | { topicId: string } => version < 10 ? { name: label } : { topicId: label === name ? topicId : unknownId }
  const commit = async (step: string, partitions: Partition[], more: Partial<Commit> = {}, topics = [name]): Promise<void> => {
    await talk.ask(step, offsetCommitApi, version, {
      groupId: talk.topic('group'), generationIdOrMemberEpoch: -1, memberId: '',
      topics: topics.map(topic => ({ ...topicOf(topic), partitions: partitions.map(p => ({ partitionIndex: 0, committedOffset: 1, committedMetadata: null, ...p })) })), ...more,
    }, answer => sorted(answer.topics, version < 10 ? name : topicId))
    await talk.ask(`${step}, and what there is`, offsetFetchApi, 8, { groups: [{ groupId: more.groupId ?? talk.topic('group'), topics: null }] },
      // The group without a name is everybody's
      answer => answer.groups.map(group => ({ ...group, topics: sorted(group.topics.filter(topic => topic.name === name), name) })))
  }
  await commit('by nobody', [{ committedOffset: 5, committedMetadata: 'text' }])
  await commit('unknown partition', [{ partitionIndex: 2 }])
  await commit('unknown partition beside a good one', [{ partitionIndex: 999_999 }, { partitionIndex: 1, committedOffset: 7 }, { partitionIndex: -1 }])
  await commit('unknown topic beside a good one', [{ partitionIndex: 1, committedOffset: 8 }], {}, [talk.topic('missing'), name])
  await commit('unknown topic alone', [{}], {}, [talk.topic('missing')])
  await commit('no partitions', [])
  await commit('nothing', [], {}, [])
  await commit('one partition twice', [{ committedOffset: 11 }, { committedOffset: 12 }])
  await commit('a lower offset', [{ committedOffset: 2 }])
  for (const committedOffset of [-1, -2]) await commit(`offset ${committedOffset}`, [{ committedOffset }])
  await commit('text too long', [{ committedMetadata: 'm'.repeat(5000) }, { partitionIndex: 1, committedOffset: 9 }])
  await commit('text of bytes too long', [{ committedMetadata: 'ü'.repeat(3000) }], { groupId: talk.topic('bytes') })
  await commit('empty group', [{}], { groupId: '' })
  await commit('a generation of a group without members', [{ committedOffset: 20 }], { generationIdOrMemberEpoch: 3, memberId: 'nobody' })
  await commit('a generation of a group that is not there', [{}], { groupId: talk.topic('unknown'), generationIdOrMemberEpoch: 3, memberId: 'nobody' })
  await commit('a member without a generation', [{ committedOffset: 21 }], { memberId: 'nobody' })
  if (version >= 6) await commit('an epoch', [{ committedOffset: 22, committedLeaderEpoch: 4 }])

  const member = await reader(talk, 'member', name)
  const { groupId, id: memberId, generation: generationIdOrMemberEpoch } = member
  const claim = { groupId, memberId, generationIdOrMemberEpoch }
  await commit('by a member', [{}], claim)
  await commit('by a member, of an unknown partition', [{ partitionIndex: 5 }], claim)
  await commit('of an earlier generation', [{}], { ...claim, generationIdOrMemberEpoch: generationIdOrMemberEpoch - 1 })
  await commit('of a later generation', [{}], { ...claim, generationIdOrMemberEpoch: generationIdOrMemberEpoch + 1 })
  await commit('of another member', [{}], { ...claim, memberId: 'nobody' })
  await commit('of another member, of an unknown topic', [{}], { ...claim, memberId: 'nobody' }, [talk.topic('missing')])
  await commit('by nobody while there are members', [{}], { groupId })
  await commit('by the member without its generation', [{}], { ...claim, generationIdOrMemberEpoch: -1 })
  if (version >= 7) await commit('of an instance that it is not', [{}], { ...claim, groupInstanceId: 'i' })
}

const fetched: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('fetched', 2)
  const topicId = await talk.topicId(name)
  const groupId = talk.topic('group')
  await commitAlone(talk, groupId, name, [{ committedOffset: 5, committedLeaderEpoch: 3 }])
  type Wanted = { topic: string; partitionIndexes: number[] }[] | null
  const topicsOf = (wanted: Wanted): object[] | null => wanted && wanted.map(({ topic, partitionIndexes }) =>
    version < 10 ? { name: topic, partitionIndexes } : { topicId: topic === name ? topicId : unknownId, partitionIndexes })
  const fetch = async (step: string, wanted: Wanted, more: object = {}, group = groupId): Promise<void> => {
    const topics = topicsOf(wanted)
    await talk.ask(step, offsetFetchApi, version, (version < 8 ? { groupId: group, topics } : { groups: [{ groupId: group, topics, ...more }] }) as RequestDraftOf<typeof offsetFetchApi>,
      answer => ({ ...answer, topics: sorted(answer.topics.map(topic => ({ ...topic })), name), groups: answer.groups.map(each => ({ ...each, topics: sorted(each.topics, version < 10 ? name : topicId) })) }))
  }
  const one = [{ topic: name, partitionIndexes: [0] }]
  await fetch('one', one)
  await fetch('one that is not committed', [{ topic: name, partitionIndexes: [1, 0] }])
  await fetch('a partition that is not there', [{ topic: name, partitionIndexes: [9, -1] }])
  await fetch('one twice', [{ topic: name, partitionIndexes: [0, 0] }])
  await fetch('no partitions', [{ topic: name, partitionIndexes: [] }])
  await fetch('a topic that is not there', [{ topic: talk.topic('missing'), partitionIndexes: [0] }, ...one])
  await fetch('no topics', [])
  await fetch('unknown group', one, {}, talk.topic('unknown'))
  await fetch('empty group', one, {}, '')
  if (version >= 2) await fetch('all', null)
  if (version >= 2) await fetch('all of an unknown group', null, {}, talk.topic('unknown'))
  if (version >= 7) await talk.ask('stable ones', offsetFetchApi, version, { ...version < 8 ? { groupId, topics: topicsOf(one) } : { groups: [{ groupId, topics: topicsOf(one) }] }, requireStable: true } as RequestDraftOf<typeof offsetFetchApi>)
  if (version < 8) return
  const groups = [groupId, talk.topic('unknown'), groupId].map(each => ({ groupId: each, topics: topicsOf(one) }))
  await talk.ask('several groups', offsetFetchApi, version, { groups } as RequestDraftOf<typeof offsetFetchApi>)
  await talk.ask('no groups', offsetFetchApi, version, { groups: [] })
  if (version < 9) return
  const member = await reader(talk, 'member', name)
  await fetch('by a member', one, { memberId: member.id, memberEpoch: member.generation }, member.groupId)
  await fetch('by nobody in an epoch', one, { memberId: 'nobody', memberEpoch: 3 }, member.groupId)
  await fetch('without an id in an epoch', one, { memberId: null, memberEpoch: 3 }, member.groupId)
}

const deletions: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('deleted', 2)
  const other = await talk.create('other', 1)
  const remove = async (step: string, groupId: string, topics: { name: string; partitions: number[] }[]): Promise<void> => {
    await talk.ask(step, offsetDeleteApi, version, { groupId, topics: topics.map(topic => ({ name: topic.name, partitions: topic.partitions.map(partitionIndex => ({ partitionIndex })) })) },
      answer => ({ ...answer, topics: sorted(answer.topics, name) }))
    await talk.ask(`${step}, and what there is`, offsetFetchApi, 8, { groups: [{ groupId, topics: null }] },
      answer => answer.groups.map(group => ({ ...group, topics: sorted(group.topics.filter(topic => topic.name === name), name) })))
  }
  const groupId = talk.topic('group')
  await commitAlone(talk, groupId, name, [{}, { partitionIndex: 1 }])
  await remove('unknown group', talk.topic('unknown'), [{ name, partitions: [0] }])
  await remove('unknown group and topic', talk.topic('unknown'), [{ name: talk.topic('missing'), partitions: [0] }])
  await remove('empty group', '', [{ name, partitions: [0] }])
  await remove('no topics', groupId, [])
  await remove('no partitions', groupId, [{ name, partitions: [] }])
  await remove('one, one that is not there, and a topic that is not', groupId, [{ name, partitions: [0, 9, -1] }, { name: talk.topic('missing'), partitions: [0] }])
  await remove('one that is not committed', groupId, [{ name, partitions: [0] }])
  const member = await reader(talk, 'member', name)
  await remove('of a topic that is read, and of one that is not', member.groupId, [{ name, partitions: [0] }, { name: other, partitions: [0, 5] }])
  const connect = await stableMember(talk, talk.topic('connect'), { protocolType: 'connect' })
  await remove('of a group that is none of consumers', connect.groupId, [{ name, partitions: [0] }])
}

export const offsetScenarios: readonly Scenario[] = [
  scenario(offsetCommitApi, 'offsets committed', [2, 10], committed),
  scenario(offsetFetchApi, 'offsets fetched', [1, 10], fetched),
  scenario(offsetDeleteApi, 'offsets deleted', [0, 0], deletions),
]
