import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type ClassicGroup } from '../../../../src/plugins/coordinator-group/core/classic-group.ts'
import { GroupMachine } from '../../../../src/plugins/coordinator-group/core/group-machine.ts'
import { type GroupCommand, type GroupRules, type JoinCommand } from '../../../../src/plugins/coordinator-group/core/group-commands.ts'
import { type RecordDraft } from '../../../../src/kernel/model/replay-machine.ts'
import { consumerRules, FakeTopics } from './fake-topics.ts'
import { findCoordinatorApi } from '../../../../src/wire/messages/10-find-coordinator.ts'
import { turn } from '../protocol-kafka/fixture/test-broker.ts'
import { bytes, GroupWorld } from './group-world.ts'

const rules: GroupRules = {
  initialRebalanceDelayMs: 10, sessionTimeoutMinMs: 100, sessionTimeoutMaxMs: 100_000, groupSizeMax: 6, offsetMetadataBytesMax: 100, offsetsRetentionMs: 50_000, retentionCheckIntervalMs: 3000,
  consumer: consumerRules,
}

describe('a coordinator that is asked for when there was none', () => {
  const ask = async (): Promise<{ world: GroupWorld, told: number[], asked: Promise<unknown> }> => {
    const world = await GroupWorld.unasked()
    world.broker.cluster.slowPartitions = [0, 1, 2, 3]
    const told: number[] = []
    const asked = world.client().call(findCoordinatorApi, 3, { key: 'g', keyType: 0 }).then(({ errorCode, nodeId }) => told.push(errorCode, nodeId))
    await turn()
    return { world, told, asked }
  }

  it('is named when its partition is made and loaded: a member joins at once', async () => {
    const { world, told, asked } = await ask()
    expect(told).toEqual([])
    world.broker.cluster.finishOf('__consumer_offsets')
    await asked
    expect(told).toEqual([0, 1])
    const member = world.member()
    await world.stable(member)
    expect([member.generation, member.assignment]).toEqual([1, `all for ${member.id}`])
  })

  it('is named after a second all the same, and says itself that it is loading', async () => {
    const { world, told } = await ask()
    await world.pass(1000)
    expect(told).toEqual([0, 1])
    expect((await world.member().joinOnce()).errorCode).toBe(14)
  })
})

describe('another coordinator', () => {
  it('knows the members, their assignments and offsets of a stable group, and lets them go on', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member({ instanceId: 'i' }), world.member()]
    await world.stable(first, second)
    await second.commit(12)
    await world.reload()
    expect(await first.heartbeat()).toBe(0)
    expect(await second.commit(13)).toBe(0)
    expect((await second.sync()).errorCode).toBe(0)
    expect(second.assignment).toBe(`all for ${second.id}`)
    expect(await world.committed()).toBe(13)
    const again = world.member({ instanceId: 'i' })
    expect((await again.join()).generationId).toBe(1)
    expect(await first.heartbeat()).toBe(82)
  })

  it('gives members their session anew, and takes out who is not heard from', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member(), world.member()]
    await world.stable(first, second)
    await world.pass(9000)
    await world.reload()
    await world.pass(9000)
    expect(await first.heartbeat()).toBe(0)
    await world.pass(2000)
    expect(await first.heartbeat()).toBe(27)
    expect(await second.heartbeat()).toBe(25)
  })

  it('never gives the number of a generation again, though it was lost before its leader had assigned: a zombie of an older one is not heard', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member(), world.member()]
    await world.stable(first, second)
    await world.gather(first, second)
    expect(first.generation).toBe(2)
    await world.reload()
    // The zombie is still in generation 1, where it was a member.
    for (const generationIdOrMemberEpoch of [1, 2]) expect(await second.commit(99, { generationIdOrMemberEpoch })).toBe(25)
    expect(await first.heartbeat()).toBe(25)
    expect((await first.sync([first])).errorCode).toBe(25)
    first.id = ''
    await world.stable(first)
    expect(first.generation).toBe(3)
    expect(await world.committed()).toBe(-1)
  })

  it('tells who waited for the former one to look for the coordinator', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.gather(leader, follower)
    const waiting = follower.sync()
    const joining = world.member({ groupId: 'h', version: 3 })
    await world.reload()
    expect((await waiting).errorCode).toBe(16)
    const answer = joining.joinOnce()
    await world.pass(1)
    expect((await answer).errorCode).toBe(0)
  })

  it('is not told of an assignment that could not be written, nor are the members', async () => {
    const world = await GroupWorld.start()
    const [leader, follower] = [world.member(), world.member()]
    await world.gather(leader, follower)
    const waiting = follower.sync()
    world.replica().appendError = new Error('a cable')
    expect((await leader.sync([leader, follower])).errorCode).toBe(16)
    expect((await waiting).errorCode).toBe(16)
    world.replica().appendError = undefined
    await world.pass(2000)
    expect(world.machine().groups.get('g')).toMatchObject({ state: 'Empty', generation: 1 })
  })
})

/** What has to be the same after a load, members of groups that were stable included: all but who waits, who is about to join, and until when who may be silent. */
function durable(machine: GroupMachine, stable: ReadonlySet<string>): unknown {
  const groups = [...machine.groups.values()].filter(({ protocolType, generation, groupId }) => machine.offsets.has(groupId) || (protocolType !== null && generation > 0))
  return groups.sort((a, b) => a.groupId < b.groupId ? -1 : 1).map((group) => ({
    groupId: group.groupId, generation: group.generation, offsets: [...machine.offsets.of(group.groupId)].map(([topic, partition, { offset }]) => `${topic}-${partition}=${offset}`).sort(),
    ...stable.has(group.groupId) ? { state: group.state, protocol: group.protocol, leader: group.leader, protocolType: group.protocolType, members: membersOf(group) } : {},
  }))
}

const membersOf = (group: ClassicGroup): unknown[] => [...group.members.values()].map(({ memberId, instanceId, sessionTimeoutMs, rebalanceTimeoutMs, assignment, clientId }) =>
  ({ memberId, instanceId, sessionTimeoutMs, rebalanceTimeoutMs, clientId, assignment: [...assignment] }))

/** A group of clients that do anything at any time. */
class Clients {
  readonly machine = new GroupMachine(rules, new FakeTopics())
  readonly log: RecordDraft[] = []
  readonly random: Prng
  readonly now = { wallMs: 1_000_000, judgedMs: 0 }
  /** Askers that have no answer yet. */
  readonly open = new Set<number>()
  readonly generations = new Map<string, Set<number>>()
  private asked = 0
  private ids = 0

  constructor(seed: number) {
    this.random = new Prng(seed)
    this.carryOut(this.machine.loaded(this.now))
  }

  pick<T>(of: readonly T[]): T {
    return of[this.random.uint32() % of.length]!
  }

  carryOut(decision: ReturnType<GroupMachine['decide']>, asker?: number): void {
    for (const record of decision.records) {
      this.log.push(record)
      this.machine.replay(record.key, record.value)
    }
    for (const change of decision.changes) this.machine.apply(change)
    for (const { asker: who } of decision.answers) {
      expect(this.open.delete(who)).toBe(true)
    }
    if (asker === undefined) return
    const waiting = [...this.machine.groups.values()].some(({ members }) => [...members.values()].some(({ joinAsker, syncAsker }) => joinAsker === asker || syncAsker === asker))
    // Who has no answer yet is waited for by some member.
    expect(this.open.has(asker)).toBe(waiting)
  }

  step(): void {
    this.now.judgedMs += this.random.uint32() % 40
    this.now.wallMs += this.random.uint32() % 3000
    for (let count = 0; this.machine.nextDeadlineMs <= this.now.judgedMs; count++) {
      expect(count).toBeLessThan(100)
      this.carryOut(this.machine.due(this.now))
    }
    const asker = ++this.asked
    this.open.add(asker)
    this.carryOut(this.machine.decide(this.command(), asker, { ...this.now }), asker)
    for (const { groupId, generation, state } of this.machine.groups.values()) {
      const given = this.generations.get(groupId) ?? new Set()
      if (state === 'CompletingRebalance') given.add(generation)
      this.generations.set(groupId, given)
    }
  }

  private command(): GroupCommand {
    const groupId = this.pick(['a', 'b', 'c'])
    const group = this.machine.groups.get(groupId)
    const known = [...group?.members.values() ?? []]
    const member = known.length > 0 && this.random.uint32() % 10 > 0 ? this.pick(known) : undefined
    const claim = { memberId: member?.memberId ?? this.pick(['', 'stranger', ...group?.pending.keys() ?? []]), instanceId: member?.instanceId ?? null }
    const generation = (group?.generation ?? 0) - (this.random.uint32() % 12 === 0 ? 1 : 0)
    switch (this.random.uint32() % 12) {
      case 0: case 1: case 2: case 3: return this.join(groupId, claim)
      case 4: case 5: case 6: return { type: 'sync', groupId, ...claim, generation, protocol: null, protocolType: null, assignments: new Map(known.map(({ memberId }) => [memberId, bytes(`for ${memberId}`)])) }
      case 7: return { type: 'heartbeat', groupId, ...claim, generation }
      case 8: return { type: 'leave', groupId, members: [{ ...claim, reason: null }] }
      case 9: case 10: return { type: 'commit', groupId, ...claim, generation: this.pick([generation, -1]), retentionMs: -1, knowsEpochs: true, offsets: [
        { topic: this.pick(['t', 'u']), topicId: 'AAAAAAAAAAAAAAAAAAAAAA', partition: this.random.uint32() % 3, offset: this.random.uint32() % 1000, leaderEpoch: -1, metadata: '' },
      ] }
      default: return this.pick<GroupCommand>([{ type: 'delete', groupId }, { type: 'topicsDeleted', topics: new Set(['u']) }, { type: 'describe', groupId }])
    }
  }

  private join(groupId: string, claim: { memberId: string, instanceId: string | null }): JoinCommand {
    const instanceId = claim.memberId === '' ? this.pick([null, null, 'x', 'y']) : claim.instanceId
    return {
      type: 'join', groupId, memberId: claim.memberId, instanceId, sessionTimeoutMs: 500 + this.random.uint32() % 500, rebalanceTimeoutMs: 200 + this.random.uint32() % 500,
      protocolType: 'consumer', protocols: this.pick([['p', 'q'], ['q'], ['q', 'p']]).map((name) => ({ name, metadata: bytes(name) })), clientId: 'c', clientHost: '/h',
      freshMemberId: `m-${++this.ids}`, idFirst: this.random.uint32() % 2 === 0, maySkip: true, reason: null,
    }
  }
}

describe('random clients', () => {
  const seeds = process.env['GROUP_SEEDS'] === undefined ? [11, 12, 13] : Array.from({ length: Number(process.env['GROUP_SEEDS']) }, (_, index) => 1000 + index)

  it.each(seeds)('seed %d: the log gives the groups that were there, whenever it is read; nobody waits for nothing', (seed) => {
    const clients = new Clients(seed)
    const met = new Set<string>()
    for (let count = 0; count < 1500; count++) {
      clients.step()
      for (const { state } of clients.machine.groups.values()) met.add(state)
      if (count % 15 > 0) continue
      const loaded = new GroupMachine(rules, new FakeTopics())
      for (const { key, value } of clients.log) loaded.replay(key, value)
      const stable = new Set([...clients.machine.groups.values()].filter(({ state }) => state === 'Stable').map(({ groupId }) => groupId))
      expect(durable(loaded, stable)).toEqual(durable(clients.machine, stable))
    }
    expect(met.size).toBe(4)
    // In the end, nobody is heard from: every group comes to rest, and everybody has an answer.
    for (let left = 500; left > 0 && clients.machine.nextDeadlineMs < clients.now.judgedMs + 1_000_000; left--) {
      clients.now.judgedMs = Math.max(clients.now.judgedMs, clients.machine.nextDeadlineMs)
      clients.now.wallMs += 10_000
      clients.carryOut(clients.machine.due(clients.now))
      if (clients.machine.groups.size === 0) break
    }
    expect(clients.open.size).toBe(0)
    expect(clients.machine.groups.size).toBe(0)
  })
})
