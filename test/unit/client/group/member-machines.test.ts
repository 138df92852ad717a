import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { ClassicMember } from '../../../../src/client/group/core/classic-member.ts'
import { ConsumerMember } from '../../../../src/client/group/core/consumer-member.ts'
import {
  type GroupAnswer, type GroupRequest, type GroupWork, type MemberEffect, type MemberEvent, type MemberMachine, type TopicsKnown,
} from '../../../../src/client/group/core/member-machine.ts'
import { rangeAssignor } from '../../../../src/client/group/core/range-assignor.ts'
import { cooperativeStickyAssignor } from '../../../../src/client/group/core/sticky-assignor.ts'
import { byTopic, keyOf, type TopicPartition } from '../../../../src/client/group/core/topic-partitions.ts'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { encodeAssignment, kafkaErrors } from '../../../../src/wire/index.ts'
import { seedsOf } from '../../../integration/seeds.ts'

const settings = { groupId: 'g', instanceId: null, rack: null, sessionTimeoutMs: 6000, heartbeatIntervalMs: 1000, pollIntervalMsMax: 30_000, serverAssignor: null }
const topicId = 'topicAAAAAAAAAAAAAAAAA'
const topics: TopicsKnown = new Map([['t', { partitions: 6, topicId }]])
const kinds = {
  'classic, eager': (): MemberMachine => new ClassicMember(settings, [rangeAssignor]),
  'classic, cooperative': (): MemberMachine => new ClassicMember(settings, [cooperativeStickyAssignor]),
  'consumer': (): MemberMachine => new ConsumerMember(settings, 'me'),
}

/** An application and a coordinator around one machine. What the application has is kept by what it is told alone. */
class Bench {
  readonly machine: MemberMachine
  readonly has = new Set<string>()
  readonly log: string[] = []
  nowMs = 0
  generation = 1
  sent: { id: number, request: GroupRequest }[] = []
  work: GroupWork | undefined
  failure: MillraceError | undefined
  told: MillraceError | undefined
  isLeft = false
  isInPoll = false
  isLeaving = false

  constructor(machine: MemberMachine) {
    this.machine = machine
  }

  tell(event: MemberEvent): void {
    if (event.type === 'polling') this.isInPoll = true
    if (event.type === 'polled') this.isInPoll = false
    if (event.type === 'leave') this.isLeaving = true
    for (const effect of this.machine.step(event, this.nowMs)) this.take(effect)
  }

  finishWork(): void {
    const { kind, partitions } = this.work!
    this.work = undefined
    for (const each of partitions) {
      if (kind === 'assign') this.has.add(keyOf(each))
      else this.has.delete(keyOf(each))
    }
    this.tell({ type: 'worked' })
  }

  answer({ id, request }: { id: number, request: GroupRequest }, errorCode: number, assigned: readonly TopicPartition[]): void {
    this.sent = this.sent.filter(each => each.id !== id)
    this.tell({ type: 'answered', id, answer: answerTo(request, errorCode, assigned, errorCode === 0 ? ++this.generation : this.generation) })
  }

  private take(effect: MemberEffect): void {
    this.log.push(effect.type === 'send' ? `send ${effect.request.kind}` : effect.type === 'work' ? `${effect.work.kind} ${effect.work.partitions.map(({ partition }) => partition).join()}` : effect.type)
    if (effect.type === 'send') this.sent.push(effect)
    if (effect.type === 'fail') this.failure = effect.error
    if (effect.type === 'tell') this.told = effect.error
    if (effect.type === 'left') this.isLeft = true
    if (effect.type === 'learn') this.tell({ type: 'topics', topics, isLearned: true })
    if (effect.type !== 'work') return
    expect(this.work, 'one piece of work at a time').toBeUndefined()
    expect(this.isInPoll || this.isLeaving, 'work while the application waits').toBe(true)
    for (const each of effect.work.partitions) expect(this.has.has(keyOf(each)), `${effect.work.kind} ${keyOf(each)}`).toBe(effect.work.kind !== 'assign')
    this.work = effect.work
  }
}

function answerTo(request: GroupRequest, errorCode: number, assigned: readonly TopicPartition[], generation: number): GroupAnswer {
  const throttleTimeMs = 0
  switch (request.kind) {
    case 'join':
      return { kind: 'join', response: {
        throttleTimeMs, errorCode, generationId: generation, protocolType: 'consumer', protocolName: request.draft.protocols![0]!.name, leader: 'other', skipAssignment: false,
        memberId: errorCode === kafkaErrors.MEMBER_ID_REQUIRED || request.draft.memberId === '' ? 'm-1' : request.draft.memberId!, members: [],
      } }
    case 'sync':
      return { kind: 'sync', response: { throttleTimeMs, errorCode, protocolType: 'consumer', protocolName: 'range', assignment: encodeAssignment(0, { assignedPartitions: byTopic(assigned).map(({ topic, partitions }) => ({ topic, partitions: [...partitions] })), userData: null }) } }
    case 'heartbeat':
      return { kind: 'heartbeat', response: { throttleTimeMs, errorCode } }
    case 'leave':
      return { kind: 'leave', response: { throttleTimeMs, errorCode, members: [] } }
    case 'consumerHeartbeat':
      return { kind: 'consumerHeartbeat', response: {
        throttleTimeMs, errorCode, errorMessage: null, memberId: 'me', memberEpoch: request.draft.memberEpoch! < 0 ? -1 : generation, heartbeatIntervalMs: 1000,
        assignment: { topicPartitions: assigned.length === 0 ? [] : [{ topicId, partitions: assigned.map(({ partition }) => partition) }] },
      } }
  }
}

const some = (prng: Prng): TopicPartition[] => Array.from({ length: 6 }, (_, partition) => ({ topic: 't', partition })).filter(() => prng.chance(0.5))
const passing = [
  kafkaErrors.NOT_COORDINATOR, kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS, kafkaErrors.UNKNOWN_MEMBER_ID, kafkaErrors.ILLEGAL_GENERATION, kafkaErrors.REBALANCE_IN_PROGRESS,
  kafkaErrors.MEMBER_ID_REQUIRED, kafkaErrors.COORDINATOR_NOT_AVAILABLE,
] as const
const passingOfConsumer = [kafkaErrors.NOT_COORDINATOR, kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS, kafkaErrors.UNKNOWN_MEMBER_ID, kafkaErrors.FENCED_MEMBER_EPOCH] as const

/** A code that the request may be answered with. */
function errorFor(prng: Prng, kind: GroupRequest['kind']): number {
  const list: readonly number[] = kind === 'consumerHeartbeat' ? passingOfConsumer : kind === 'join' ? passing : passing.filter(code => code !== kafkaErrors.MEMBER_ID_REQUIRED)
  return list[prng.between(0, list.length - 1)]!
}

function happen(bench: Bench, prng: Prng): void {
  const request = bench.sent[prng.between(0, Math.max(0, bench.sent.length - 1))]
  if (prng.chance(0.5) && request !== undefined) {
    if (prng.chance(0.15)) {
      bench.sent = bench.sent.filter(each => each !== request)
      bench.tell({ type: 'unanswered', id: request.id, error: new MillraceError('MR_CLIENT_DISCONNECTED', { host: 'b', port: 1, api: request.request.kind, reason: 'cut' }) })
    } else bench.answer(request, prng.chance(0.3) ? errorFor(prng, request.request.kind) : 0, some(prng))
  } else if (bench.work !== undefined && prng.chance(0.5)) bench.finishWork()
  else if (prng.chance(0.3)) bench.tell({ type: bench.isInPoll ? 'polled' : 'polling' })
  else if (prng.chance(0.1)) bench.tell({ type: 'rejoin', reason: 'test' })
  else if (prng.chance(0.05)) bench.tell({ type: 'expired' })
  else {
    bench.nowMs += prng.between(1, 5000)
    if (bench.machine.dueMs <= bench.nowMs) bench.tell({ type: 'tick' })
  }
}

/** From here on the coordinator answers well and the application polls. */
function settle(bench: Bench, assigned: readonly TopicPartition[], isDone: () => boolean): void {
  if (!bench.isInPoll) bench.tell({ type: 'polling' })
  for (let turn = 0; !isDone(); turn++) {
    expect(turn, bench.log.slice(-30).join('; ')).toBeLessThan(200)
    if (bench.work !== undefined) bench.finishWork()
    else if (bench.sent.length > 0) bench.answer(bench.sent[0]!, 0, assigned)
    else {
      bench.nowMs = Math.max(bench.nowMs, Math.min(bench.machine.dueMs, bench.nowMs + 1000))
      bench.tell({ type: 'tick' })
    }
  }
}

describe.each(Object.entries(kinds))('a member, %s', (_name, make) => {
  const start = (): Bench => {
    const bench = new Bench(make())
    bench.tell({ type: 'topics', topics })
    bench.tell({ type: 'subscribe', subscription: { topics: ['t'] } })
    return bench
  }
  const all = topics.get('t')!.partitions
  const every = Array.from({ length: all }, (_, partition) => ({ topic: 't', partition }))

  it('joins with the first poll and not before', () => {
    const bench = start()
    expect(bench.log).toEqual([])
    bench.tell({ type: 'polling' })
    expect(bench.sent).toHaveLength(1)
  })

  it('asks nothing of an application that is not polling: of what is lost it is told when it polls, before anything else', () => {
    const bench = start()
    settle(bench, every, () => bench.has.size === all && bench.machine.phase === 'stable')
    bench.tell({ type: 'polled' })
    bench.log.length = 0
    bench.nowMs += settings.pollIntervalMsMax
    bench.tell({ type: 'tick' })
    expect(bench.machine.identity.generation).toBeLessThan(0)
    expect([bench.work, bench.machine.waitsForPoll]).toEqual([undefined, true])
    bench.tell({ type: 'polling' })
    expect(bench.log.filter(each => /^(revoke|assign|lost|send (join|consumerHeartbeat))/.test(each)).at(-1)).toBe('lost 0,1,2,3,4,5')
    bench.finishWork()
    settle(bench, every, () => bench.has.size === all)
  })

  it.each(['assign', 'revoke'] as const)('leaves when what the application does at %s does not end, says why, and joins again when it has ended', (kind) => {
    const bench = start()
    const isAtIt = (): boolean => bench.work?.kind === kind
    if (kind === 'revoke') {
      settle(bench, every, () => bench.has.size === all && bench.machine.phase === 'stable')
      bench.tell({ type: 'topics', topics: new Map([...topics, ['u', { partitions: 1, topicId: 'other' }]]) })
      bench.tell({ type: 'subscribe', subscription: { topics: ['u'] } })
    }
    settle(bench, kind === 'revoke' ? [] : every, isAtIt)
    const stuck = bench.work
    bench.log.length = 0
    // Polls that time out and come again do not help.
    for (let second = 0; second * 1000 <= settings.pollIntervalMsMax; second++) {
      bench.nowMs += 1000
      bench.tell({ type: second % 2 === 0 ? 'polled' : 'polling' })
      bench.tell({ type: 'tick' })
      for (const each of bench.sent) bench.answer(each, 0, kind === 'revoke' ? [] : every)
    }
    expect(bench.log.filter(each => each === 'tell')).toEqual(['tell'])
    expect([bench.told?.code, bench.told?.details['listener']]).toEqual(['MR_CLIENT_GROUP_LISTENER_STUCK', kind === 'assign' ? 'onAssigned' : 'onRevoked'])
    expect([bench.machine.identity.generation, bench.work]).toEqual([-1, stuck])
    expect(bench.log.some(each => each === 'send leave' || each === 'send consumerHeartbeat')).toBe(true)
    bench.tell({ type: 'subscribe', subscription: { topics: ['t'] } })
    bench.finishWork()
    settle(bench, every, () => bench.has.size === all && bench.machine.phase === 'stable')
    if (kind === 'assign') expect(bench.log).toContain('lost 0,1,2,3,4,5')
  })

  it('leaves in order: gives up first, then says so', () => {
    const bench = start()
    settle(bench, every, () => bench.has.size === all && bench.machine.phase === 'stable')
    bench.log.length = 0
    bench.tell({ type: 'leave', tells: true })
    settle(bench, every, () => bench.isLeft)
    expect(bench.log.filter(each => !each.startsWith('send heartbeat')).map(each => each.split(' ')[0])).toEqual(['revoke', 'send', 'left'])
    expect(bench.has.size).toBe(0)
  })

  it('is over where the group refuses it for good', () => {
    const bench = start()
    bench.tell({ type: 'polling' })
    bench.answer(bench.sent[0]!, kafkaErrors.GROUP_AUTHORIZATION_FAILED, [])
    expect([bench.failure!.code, bench.machine.phase, bench.machine.dueMs]).toEqual(['MR_CLIENT_NOT_AUTHORIZED', 'failed', Infinity])
  })

  it.each(seedsOf(Array.from({ length: 400 }, (_, seed) => seed)))('tells the application of each partition in turn, and comes to rest with what it was given, whatever happens before, seed %i', (seed) => {
    const prng = new Prng(seed)
    const bench = start()
    for (let turn = 0; turn < 150; turn++) happen(bench, prng)
    expect(bench.failure).toBeUndefined()
    const target = some(prng)
    const wanted = target.map(keyOf).sort().join()
    // What was assigned in the noise is changed by a rebalance.
    if (bench.machine.phase !== 'idle') bench.tell({ type: 'rejoin', reason: 'test' })
    let quiet = 0
    settle(bench, target, () => {
      quiet = bench.machine.phase === 'stable' && bench.work === undefined && [...bench.has].sort().join() === wanted ? quiet + 1 : 0
      return quiet > 3
    })
    expect(bench.machine.owned.map(keyOf).sort().join()).toBe(wanted)
    bench.tell({ type: 'leave', tells: true })
    settle(bench, target, () => bench.isLeft)
    expect([bench.has.size, bench.machine.dueMs]).toEqual([0, Infinity])
  })
})

describe('a member whose partitions the coordinator shares out', () => {
  it.each(seedsOf([1, 2, 3, 4, 5, 6, 7, 8]))('gives up nothing because a topic is not known for a while, only because the coordinator says so, seed %i', (seed) => {
    const prng = new Prng(seed)
    const bench = new Bench(kinds.consumer())
    bench.tell({ type: 'topics', topics })
    bench.tell({ type: 'subscribe', subscription: { topics: ['t'] } })
    const wanted = some(prng)
    settle(bench, wanted, () => bench.machine.phase === 'stable' && bench.has.size === wanted.length)
    for (let turn = 0; turn < 30; turn++) {
      bench.tell({ type: 'topics', topics: prng.chance(0.5) ? new Map() : topics })
      if (bench.sent.length > 0) bench.answer(bench.sent[0]!, 0, wanted)
      if (bench.work !== undefined) bench.finishWork()
      bench.nowMs = Math.max(bench.nowMs, bench.machine.dueMs === Infinity ? 0 : bench.machine.dueMs)
      bench.tell({ type: 'tick' })
    }
    expect(bench.log.filter(each => each.startsWith('revoke') || each.startsWith('lost'))).toEqual([])
    settle(bench, [], () => bench.has.size === 0)
  })

  it.each(seedsOf(Array.from({ length: 40 }, (_, seed) => seed)))('which goes from a pattern to names takes the pattern back until a heartbeat that says so is answered, whatever is lost, seed %i', (seed) => {
    const prng = new Prng(seed)
    const bench = new Bench(kinds.consumer())
    bench.tell({ type: 'topics', topics })
    bench.tell({ type: 'subscribe', subscription: { topics: [], regex: 't.*' } })
    bench.tell({ type: 'polling' })
    /** What the coordinator takes the pattern for: as of the last heartbeat that came to it. */
    let pattern: string | undefined
    const hear = (isAnswered: boolean): void => {
      const [sent] = bench.sent
      if (sent?.request.kind !== 'consumerHeartbeat') return
      const { subscribedTopicRegex: said } = sent.request.draft
      if (isAnswered || prng.chance(0.5)) pattern = said ?? pattern
      if (isAnswered) bench.answer(sent, 0, [])
      else {
        bench.sent = []
        bench.tell({ type: 'unanswered', id: sent.id, error: new MillraceError('MR_CLIENT_DISCONNECTED', { host: 'b', port: 1, api: 'heartbeat', reason: 'cut' }) })
      }
    }
    const turn = (isAnswered: boolean): void => {
      if (bench.sent.length > 0) hear(isAnswered)
      else {
        bench.nowMs = Math.max(bench.nowMs, Math.min(bench.machine.dueMs, bench.nowMs + 1000))
        bench.tell({ type: 'tick' })
      }
    }
    for (let change = 0; change < 6; change++) {
      const isPattern = prng.chance(0.5)
      bench.tell({ type: 'subscribe', subscription: isPattern ? { topics: [], regex: `t.*${change}` } : { topics: ['t'] } })
      for (let count = prng.between(0, 6); count > 0; count--) turn(prng.chance(0.5))
    }
    bench.tell({ type: 'subscribe', subscription: { topics: ['t'] } })
    for (let count = prng.between(0, 4); count > 0; count--) turn(prng.chance(0.3))
    for (let count = 0; count < 8; count++) turn(true)
    expect(pattern ?? '', `seed ${seed}`).toBe('')
  })
})

describe('a member of the classic protocol that is sent what is no assignment', () => {
  it.each([[0, 0, 0, 0, 0, 9, 1], [0], [0, 0, 255, 255, 255, 255], [0, 0, 0, 0, 0, 1, 0, 9, 116]])('leaves and says so, once, and joins again with the next subscribe: bytes %j', (...bytes) => {
    const bench = new Bench(kinds['classic, cooperative']())
    const subscribe = (): void => { bench.tell({ type: 'subscribe', subscription: { topics: ['t'] } }) }
    bench.tell({ type: 'topics', topics })
    subscribe()
    const every = Array.from({ length: 6 }, (_, partition) => ({ topic: 't', partition }))
    settle(bench, every, () => bench.has.size === 6 && bench.machine.phase === 'stable')
    bench.tell({ type: 'rejoin', reason: 'test' })
    bench.answer(bench.sent.find(({ request }) => request.kind === 'join')!, 0, [])
    const sync = bench.sent.find(({ request }) => request.kind === 'sync')!
    bench.sent = []
    bench.tell({ type: 'answered', id: sync.id, answer: { kind: 'sync', response: { throttleTimeMs: 0, errorCode: 0, protocolType: 'consumer', protocolName: 'cooperative-sticky', assignment: new Uint8Array(bytes) } } })
    expect([bench.failure?.code, bench.failure?.details['error'], bench.machine.phase, bench.machine.identity.generation]).toEqual(['MR_CLIENT_GROUP_REFUSED', 'MR_PROTOCOL_MALFORMED', 'failed', -1])
    expect([bench.sent.map(({ request }) => request.kind), bench.work?.kind, bench.machine.dueMs]).toEqual([['leave'], 'lost', Infinity])
    bench.finishWork()
    subscribe()
    settle(bench, every, () => bench.has.size === 6 && bench.machine.phase === 'stable')
  })
})
