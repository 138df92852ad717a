import {
  deleteGroupsApi, describeGroupsApi, findCoordinatorApi, heartbeatApi, joinGroupApi, leaveGroupApi, listGroupsApi, syncGroupApi,
} from '../../../../src/wire/index.ts'
import { type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { scenario, type Scenario, type Talk } from '../scenario.ts'

type Join = RequestDraftOf<typeof joinGroupApi>

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const range = { name: 'range', metadata: bytes('what it reads') }
const roundrobin = { name: 'roundrobin', metadata: bytes('the same') }
/** Of another member: members are told in an order of each broker. */
const otherRange = { name: 'range', metadata: bytes('what the other reads') }

/** Somebody who joins groups in a version of JoinGroup, and keeps what it is told. */
export class ClassicMember {
  id = ''
  generation = -1
  readonly talk: Talk
  readonly groupId: string
  readonly version: number
  readonly more: Partial<Join>

  constructor (talk: Talk, groupId: string, version: number, more: Partial<Join> = {}) {
    this.talk = talk.beside()
    this.groupId = groupId
    this.version = version
    this.more = more
  }

  request (more: Partial<Join> = {}): Join {
    return {
      groupId: this.groupId, memberId: this.id, sessionTimeoutMs: 30_000, ...this.version >= 1 ? { rebalanceTimeoutMs: 30_000 } : {}, protocolType: 'consumer',
      protocols: [range, roundrobin], ...this.more, ...more,
    }
  }

  /** One request. */
  async join (step: string, more: Partial<Join> = {}): Promise<number> {
    const answer = await this.talk.ask(step, joinGroupApi, this.version, this.request(more),
      answer => ({ ...answer, members: [...answer.members].sort((a, b) => a.metadata.length - b.metadata.length) }))
    if (typeof answer === 'string') return -1
    if (answer.errorCode === 0 || answer.errorCode === 79) this.id = answer.memberId
    if (answer.errorCode === 0) this.generation = answer.generationId
    return answer.errorCode
  }

  /** As clients do: once more where it was only given an id. */
  async enter (step: string): Promise<void> {
    if (await this.join(`${step}, first`) === 79) await this.join(step)
  }

  /** As the leader of a generation of these members. */
  async assign (step: string, members: readonly ClassicMember[] = [this], more: object = {}): Promise<void> {
    await this.sync(step, { assignments: members.map(({ id }, i) => ({ memberId: id, assignment: bytes(`part ${i}`) })), ...more })
  }

  async sync (step: string, more: object = {}, version = 4): Promise<void> {
    await this.talk.ask(step, syncGroupApi, version, { groupId: this.groupId, generationId: this.generation, memberId: this.id, assignments: [], ...more })
  }

  async heartbeat (step: string, more: object = {}, version = 4): Promise<number> {
    const answer = await this.talk.ask(step, heartbeatApi, version, { groupId: this.groupId, generationId: this.generation, memberId: this.id, ...more })
    return typeof answer === 'string' ? -1 : answer.errorCode
  }
}

/** A stable group of one. */
export async function stableMember (talk: Talk, groupId: string, more: Partial<Join> = {}): Promise<ClassicMember> {
  const member = new ClassicMember(talk, groupId, 9, more)
  await member.enter(`${groupId.slice(-6)} is made`)
  await member.assign(`${groupId.slice(-6)} is stable`)
  return member
}

/** Members that others wait for: until the coordinator has them, what comes after would not find them waiting. */
async function untilWaiting (talk: Talk, groupId: string, members: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await talk.quietly(describeGroupsApi, 5, { groups: [groupId] })
    if (typeof answer !== 'string' && answer.groups[0]!.members.length >= members) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

const joins: Scenario['run'] = async (talk, version) => {
  const refused = async (step: string, more: Partial<Join>, groupId = talk.topic('refused')): Promise<void> => {
    await new ClassicMember(talk, groupId, version).join(step, more)
  }
  await refused('empty group', {}, '')
  await refused('session timeout too short', { sessionTimeoutMs: 100 })
  await refused('session timeout too long', { sessionTimeoutMs: 100_000_000 })
  await refused('session timeout below nothing', { sessionTimeoutMs: -1 })
  await refused('no protocols', { protocols: [] })
  await refused('no protocol type', { protocolType: '' })
  await refused('an id that nobody was given', { memberId: 'nobody' })
  if (version >= 5) await refused('an instance with an id that nobody was given', { memberId: 'nobody', groupInstanceId: 'i' })

  const group = talk.topic('joined')
  const [first, second] = [new ClassicMember(talk, group, version), new ClassicMember(talk, group, version, { protocols: [roundrobin, otherRange] })]
  await first.enter('first')
  await first.assign('first assigns')
  await new ClassicMember(talk, group, version).join('another protocol type', { protocolType: 'connect' })
  await new ClassicMember(talk, group, version).join('protocols that nobody else has', { protocols: [{ name: 'other', metadata: bytes('x') }] })
  const entered = second.enter('second')
  await untilWaiting(talk, group, 2)
  await first.heartbeat('first, while others join')
  await Promise.all([first.join('first again'), entered])
  await Promise.all([first.assign('first assigns to two', [first, second]), second.sync('second has its part')])
  await second.join('a follower joins again with what it said before')
  await second.sync('the follower has its part')
  await first.join('with no protocols any more', { protocols: [] })
  if (version < 5) return

  const fixed = talk.topic('static')
  const one = new ClassicMember(talk, fixed, version, { groupInstanceId: 'i1' })
  await one.enter('static')
  await one.assign('static, assigned')
  const again = new ClassicMember(talk, fixed, version, { groupInstanceId: 'i1' })
  await again.join('static, started again')
  await one.heartbeat('static, its former self', { groupInstanceId: 'i1' })
  await one.join('static, its former self joins')
  await again.heartbeat('static, goes on', { groupInstanceId: 'i1' })
  await new ClassicMember(talk, fixed, version, { groupInstanceId: 'i2' }).join('static, unknown instance with an id', { memberId: again.id })
}

const syncs: Scenario['run'] = async (talk, version) => {
  const group = talk.topic('synced')
  const member = new ClassicMember(talk, group, 9)
  await member.enter('joined')
  const sync = (step: string, more: object = {}): Promise<void> => member.sync(step, more, version)
  await sync('empty group', { groupId: '' })
  await sync('unknown group', { groupId: talk.topic('unknown') })
  await sync('unknown member', { memberId: 'nobody' })
  await sync('an earlier generation', { generationId: member.generation - 1 })
  await sync('a later generation', { generationId: member.generation + 1 })
  await sync('generation -1', { generationId: -1 })
  if (version >= 3) await sync('an instance that it is not', { groupInstanceId: 'i' })
  if (version >= 5) {
    await sync('another protocol type', { protocolType: 'connect', protocolName: 'range' })
    await sync('another protocol', { protocolType: 'consumer', protocolName: 'roundrobin' })
    await sync('no protocol', { protocolType: null, protocolName: null })
  }
  const named = version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {}
  await sync('assigned to itself and to nobody', { ...named, assignments: [{ memberId: member.id, assignment: bytes('all') }, { memberId: 'nobody', assignment: bytes('x') }] })
  await sync('asked again', named)
  await sync('asked again with another assignment', { ...named, assignments: [{ memberId: member.id, assignment: bytes('other') }] })
  await member.join('joined again')
  await sync('assigned nothing', { ...named, assignments: [] })
}

const heartbeats: Scenario['run'] = async (talk, version) => {
  const group = talk.topic('heard')
  const member = new ClassicMember(talk, group, 9)
  await member.enter('joined')
  const beat = (step: string, more: object = {}): Promise<number> => member.heartbeat(step, more, version)
  await beat('before it is assigned anything')
  await member.assign('assigned')
  await beat('stable')
  await beat('empty group', { groupId: '' })
  await beat('unknown group', { groupId: talk.topic('unknown') })
  await beat('unknown member', { memberId: 'nobody' })
  await beat('empty member', { memberId: '' })
  await beat('an earlier generation', { generationId: member.generation - 1 })
  await beat('a later generation', { generationId: member.generation + 1 })
  if (version >= 3) await beat('an instance that it is not', { groupInstanceId: 'i' })
}

const leaves: Scenario['run'] = async (talk, version) => {
  const leave = async (step: string, memberId: string, groupInstanceId: string | null = null, groupId = group): Promise<void> => {
    await talk.ask(step, leaveGroupApi, version, version < 3 ? { groupId, memberId } : { groupId, members: [{ memberId, groupInstanceId }] })
  }
  const group = talk.topic('left')
  const member = await stableMember(talk, group)
  await leave('empty group', member.id, null, '')
  await leave('unknown group', member.id, null, talk.topic('unknown'))
  await leave('unknown member', 'nobody')
  await leave('empty member', '')
  await leave('a member', member.id)
  await leave('again', member.id)
  await member.heartbeat('heartbeat of who has left')
  const waiting = new ClassicMember(talk, talk.topic('pending'), 9)
  await waiting.join('given an id')
  await leave('an id that was not used', waiting.id, null, waiting.groupId)
  if (version < 3) return
  const fixed = await stableMember(talk, talk.topic('left-s'), { groupInstanceId: 'i1' })
  await leave('another instance', fixed.id, 'i2', fixed.groupId)
  await leave('another id', 'nobody', 'i1', fixed.groupId)
  await talk.ask('several', leaveGroupApi, version, {
    groupId: fixed.groupId, members: [{ memberId: '', groupInstanceId: 'i2' }, { memberId: '', groupInstanceId: 'i1' }, { memberId: '', groupInstanceId: 'i1' }, { memberId: 'nobody' }],
  })
  await talk.ask('nobody', leaveGroupApi, version, { groupId: fixed.groupId, members: [] })
}

const described: Scenario['run'] = async (talk, version) => {
  const describe = async (step: string, groups: string[], more: object = {}): Promise<void> => {
    // Kafka answers in an order of its own
    await talk.ask(step, describeGroupsApi, version, { groups, ...more }, answer => [...answer.groups].sort((a, b) => a.groupId < b.groupId ? -1 : 1))
  }
  const member = new ClassicMember(talk, talk.topic('shown'), 9, { groupInstanceId: 'i1' })
  await describe('unknown', [talk.topic('unknown')])
  await describe('empty name', [''])
  await describe('none', [])
  await member.enter('joined')
  await describe('not assigned yet', [member.groupId])
  await member.assign('assigned')
  await describe('stable', [member.groupId])
  await describe('twice', [member.groupId, member.groupId])
  if (version >= 3) await describe('with operations', [member.groupId, talk.topic('unknown')], { includeAuthorizedOperations: true })
  await talk.ask('left', leaveGroupApi, 5, { groupId: member.groupId, members: [{ memberId: member.id }] })
  await describe('empty', [member.groupId])
}

const listed: Scenario['run'] = async (talk, version) => {
  const list = async (step: string, more: object = {}): Promise<void> => {
    await talk.ask(step, listGroupsApi, version, more, ({ errorCode, groups }) => ({
      errorCode, groups: groups.filter(({ groupId }) => groupId.startsWith(talk.topic(''))).sort((a, b) => a.groupId < b.groupId ? -1 : 1),
    }))
  }
  await stableMember(talk, talk.topic('stable'))
  const left = await stableMember(talk, talk.topic('empty'))
  await talk.ask('left', leaveGroupApi, 5, { groupId: left.groupId, members: [{ memberId: left.id }] })
  await new ClassicMember(talk, talk.topic('waiting'), 9).enter('not assigned')
  await new ClassicMember(talk, talk.topic('pending'), 9).join('given an id')
  await list('all')
  if (version < 4) return
  for (const statesFilter of [['Stable'], ['stable', 'EMPTY'], ['CompletingRebalance'], ['completing_rebalance'], ['Dead'], ['no such state'], ['']]) await list(`states ${statesFilter.join(' ')}`, { statesFilter })
  if (version < 5) return
  for (const typesFilter of [['classic'], ['Consumer'], ['CLASSIC', 'share'], ['no such type'], ['']]) await list(`types ${typesFilter.join(' ')}`, { typesFilter })
  await list('states and types', { statesFilter: ['Stable'], typesFilter: ['classic'] })
}

const deleted: Scenario['run'] = async (talk, version) => {
  const remove = async (step: string, groupsNames: string[]): Promise<void> => {
    await talk.ask(step, deleteGroupsApi, version, { groupsNames }, answer => [...answer.results].sort((a, b) => a.groupId < b.groupId ? -1 : 1))
  }
  await remove('unknown', [talk.topic('unknown')])
  await remove('empty name', [''])
  await remove('none', [])
  const member = await stableMember(talk, talk.topic('kept'))
  await remove('with members', [member.groupId])
  await talk.ask('left', leaveGroupApi, 5, { groupId: member.groupId, members: [{ memberId: member.id }] })
  await remove('empty, and an unknown one', [member.groupId, talk.topic('unknown')])
  await remove('again', [member.groupId])
  const pending = new ClassicMember(talk, talk.topic('pending'), 9)
  await pending.join('given an id')
  await remove('of which nobody is a member yet', [pending.groupId])
}

const coordinators: Scenario['run'] = async (talk, version) => {
  const find = async (step: string, keys: string[], keyType: number): Promise<void> => {
    if (version < 4) await talk.ask(step, findCoordinatorApi, version, { key: keys[0]!, ...version >= 1 ? { keyType } : {} })
    else await talk.ask(step, findCoordinatorApi, version, { coordinatorKeys: keys, keyType })
  }
  await find('a group', [talk.topic('group')], 0)
  await find('a group without a name', [''], 0)
  if (version < 1) return
  await find('a transactional id', [talk.topic('id')], 1)
  await find('a transactional id without a name', [''], 1)
  await find('a share group', [`${talk.topic('group')}:AAAAAAAAAAAAAAAAAAAAEA:0`], 2)
  await find('a share group that cannot be', ['group'], 2)
  for (const keyType of [3, 9, -1]) await find(`key type ${keyType}`, ['k'], keyType)
  if (version < 4) return
  await find('several', [talk.topic('a'), talk.topic('b'), talk.topic('a')], 0)
  await find('none', [], 0)
}

export const classicGroupScenarios: readonly Scenario[] = [
  scenario(findCoordinatorApi, 'coordinators by type of key', [0, 6], coordinators),
  scenario(joinGroupApi, 'members that come', [0, 9], joins),
  scenario(syncGroupApi, 'assignments', [0, 5], syncs),
  scenario(heartbeatApi, 'signs of life', [0, 4], heartbeats),
  scenario(leaveGroupApi, 'members that go', [0, 5], leaves),
  scenario(describeGroupsApi, 'groups looked at', [0, 6], described),
  scenario(listGroupsApi, 'groups listed', [0, 5], listed),
  scenario(deleteGroupsApi, 'groups deleted', [0, 3], deleted),
]
