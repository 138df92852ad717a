import assert from 'node:assert/strict'
import { isMillraceError, type ErrorCode } from '../../../src/kernel/errors/index.ts'
import { type Client, type ProducerRecord } from '../../../src/client/index.ts'
import { type SuiteCheck, type SuiteContext } from './client-suite.ts'
import { TestMember, untilAll, type GroupProtocol } from './group-member.ts'

let groups = 0
const groupName = (): string => `suite-group-${process.pid}-${groups++}`

async function rejects(work: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  await assert.rejects(work, (error: unknown) => codes.some(code => isMillraceError(error, code)) || assert.fail(String(error)))
}

const numbered = (topic: string, partitions: number, from: number, to: number): ProducerRecord[] =>
  Array.from({ length: to - from }, (_, index) => ({ topic, partition: (from + index) % partitions, value: String(from + index) }))

const send = (client: Client, records: ProducerRecord[]): Promise<unknown> => client.producer().sendMany(records)
const sorted = (values: readonly string[]): string[] => [...values].sort((a, b) => Number(a) - Number(b))
const upTo = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index))

/** What is to be so whichever protocol the group has. */
function checksOf(protocol: GroupProtocol): SuiteCheck[] {
  const check = (name: string, run: (context: SuiteContext & { readonly groupId: string, readonly member: Make }) => Promise<void>): SuiteCheck => ({
    name: `${protocol} group: ${name}`,
    run: async (context) => {
      const groupId = groupName()
      await run({ ...context, groupId, member: (options = {}, listeners = {}) => new TestMember(context.client, { groupId, groupProtocol: protocol, ...options }, listeners) })
    },
  })
  return [...sharing(check), ...committing(check), ...beginning(check), ...membership(check, protocol), ...administering(check)]
}

type Make = (options?: Partial<ConstructorParameters<typeof TestMember>[1]>, listeners?: ConstructorParameters<typeof TestMember>[2]) => TestMember
type Check = (name: string, run: (context: SuiteContext & { readonly groupId: string, readonly member: Make }) => Promise<void>) => SuiteCheck

const sharing = (check: Check): SuiteCheck[] => [
  check('each record is read once by somebody while members come and go', async ({ client, topic, member }) => {
    const name = await topic(6)
    await send(client, numbered(name, 6, 0, 300))
    const [one, two, three] = [member().run([name]), member(), member()]
    const all = (): string[] => [one, two, three].flatMap(({ values }) => values)
    await one.until(() => one.has.size === 6 && all().length === 300, 'one reads all')
    two.run([name])
    three.run([name])
    await untilAll([one, two, three], () => [one, two, three].every(({ has }) => has.size === 2), 'three have two each')
    await send(client, numbered(name, 6, 300, 600))
    await untilAll([one, two, three], () => all().length === 600, 'three read all')
    await one.close()
    await untilAll([two, three], () => two.has.size + three.has.size === 6, 'two have all')
    await send(client, numbered(name, 6, 600, 900))
    await untilAll([two, three], () => all().length === 900, 'two read all')
    assert.deepEqual(sorted(all()), upTo(900))
    await Promise.all([two.close(), three.close()])
    assert.deepEqual([two.has.size, three.has.size], [0, 0])
  }),
  check('what a listener does is waited for before others have the partitions', async ({ topic, member }) => {
    const name = await topic(2)
    const order: string[] = []
    const one = member({}, { onRevoked: async (partitions) => {
      if (partitions.length === 2) return
      await new Promise((resolve) => { setTimeout(resolve, 300) })
      order.push('given up')
    } }).run([name])
    await one.until(() => one.has.size === 2, 'one has both')
    const two = member({}, { onAssigned: () => { order.push('taken on') } }).run([name])
    await untilAll([one, two], () => one.has.size === 1 && two.has.size === 1, 'each has one')
    assert.deepEqual(order, ['given up', 'taken on'])
    await Promise.all([one.close(), two.close()])
  }),
  check('partitions that a member keeps stay paused and are not read again', async ({ client, topic, member }) => {
    const name = await topic(2)
    const one = member().run([name])
    await one.until(() => one.has.size === 2, 'one has both')
    one.consumer.pause([0, 1].map(partition => ({ topic: name, partition })))
    const two = member().run([name])
    await untilAll([one, two], () => one.has.size === 1 && two.has.size === 1, 'each has one')
    assert.deepEqual(one.consumer.paused().length, 1)
    await send(client, numbered(name, 2, 0, 20))
    await two.until(() => two.values.length === 10, 'two reads its own')
    assert.equal(one.values.length, 0)
    one.consumer.resume(one.consumer.paused())
    await one.until(() => one.values.length === 10, 'one reads its own')
    await Promise.all([one.close(), two.close()])
  }),
  check('a subscription may change', async ({ client, topic, member }) => {
    const [first, second] = [await topic(1), await topic(1)]
    await send(client, [...numbered(first, 1, 0, 5), ...numbered(second, 1, 5, 10)])
    const one = member().run([first])
    await one.until(() => one.values.length === 5, 'the first is read')
    one.consumer.subscribe([second])
    await one.until(() => one.values.length === 10, 'the second is read')
    assert.deepEqual(one.consumer.assignment(), [{ topic: second, partition: 0 }])
    await one.close()
  }),
  check('topics that match a pattern are read, also when they come later', async ({ client, admin, groupId, member }) => {
    const topics = ['a', 'b', 'other'].map(each => `${groupId}-${each}`)
    await admin.createTopics([topics[0]!, topics[2]!].map(name => ({ name, partitions: 1, replicationFactor: 1 })))
    const one = member().run(new RegExp(`^${groupId}-[ab]$`, 'g'))
    await one.until(() => one.has.size === 1, 'the first is there')
    await admin.createTopics([{ name: topics[1]!, partitions: 1, replicationFactor: 1 }])
    await send(client, topics.map((topic, index) => ({ topic, value: String(index) })))
    await one.until(() => one.values.length === 2, 'both are read')
    assert.deepEqual(sorted(one.values), ['0', '1'])
    assert.deepEqual(one.consumer.subscription(), topics.slice(0, 2))
    await one.close()
  }),
  check('a topic is read that comes to exist after the subscription', async ({ client, admin, groupId, member }) => {
    const one = member().run([`${groupId}-late`])
    await admin.createTopics([{ name: `${groupId}-late`, partitions: 2, replicationFactor: 1 }])
    await send(client, numbered(`${groupId}-late`, 2, 0, 10))
    await one.until(() => one.values.length === 10, 'it is read')
    await one.close()
  }),
]

const committing = (check: Check): SuiteCheck[] => [
  check('goes on where commit said, and not behind what was polled', async ({ client, topic, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 100))
    const one = member({ autoCommit: false }).subscribeOnly([name])
    const first = await one.consumer.poll({ maxRecords: 10 })
    assert.equal(first.length, 10)
    await one.consumer.commit()
    await one.consumer.poll({ maxRecords: 10 })
    assert.deepEqual((await one.consumer.committed([{ topic: name, partition: 0 }])).map(({ offset }) => offset), [10])
    await one.consumer.commit([{ topic: name, partition: 0, offset: 15, metadata: 'why' }])
    const [committed] = await one.consumer.committed([{ topic: name, partition: 0 }])
    assert.deepEqual([committed!.offset, committed!.metadata], [15, 'why'])
    await one.close()
    const two = member({ autoCommit: false }).subscribeOnly([name])
    assert.equal((await two.consumer.poll({ maxRecords: 1 }))[0]!.text(), '15')
    await two.close()
  }),
  check('commits come in the order of the calls', async ({ client, topic, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 10))
    const one = member({ autoCommit: false }).subscribeOnly([name])
    await one.consumer.poll()
    await Promise.all(Array.from({ length: 10 }, (_, offset) => one.consumer.commit([{ topic: name, partition: 0, offset: 10 - offset }])))
    assert.equal((await one.consumer.committed([{ topic: name, partition: 0 }]))[0]!.offset, 1)
    await one.close()
  }),
  check('by itself commits at close what was polled, and by dispose only what another poll has called done', async ({ client, topic, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 100))
    const one = member({ autoCommitIntervalMs: 600_000 }).subscribeOnly([name])
    await one.consumer.poll({ maxRecords: 10 })
    await one.close()
    const two = member({ autoCommitIntervalMs: 600_000 }).subscribeOnly([name])
    assert.equal((await two.consumer.poll({ maxRecords: 10 }))[0]!.text(), '10')
    await two.consumer.poll({ maxRecords: 10 })
    await two.consumer[Symbol.asyncDispose]()
    const three = member({ autoCommitIntervalMs: 600_000 }).subscribeOnly([name])
    assert.equal((await three.consumer.poll({ maxRecords: 10 }))[0]!.text(), '20')
    await three.close({ commit: false })
    const four = member().subscribeOnly([name])
    assert.equal((await four.consumer.poll({ maxRecords: 10 }))[0]!.text(), '20')
    await four.close()
  }),
  check('by itself commits as often as it is told to, without another poll and not what a poll still works on', async ({ client, topic, groupId, admin, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 100))
    const one = member({ autoCommitIntervalMs: 100 }).subscribeOnly([name])
    await one.consumer.poll({ maxRecords: 10 })
    await one.consumer.poll({ maxRecords: 10 })
    let offset = -1
    while (offset !== 10) offset = (await admin.listGroupOffsets(groupId, [{ topic: name, partition: 0 }]))[0]!.offset
    await one.close({ commit: false })
    assert.equal((await admin.listGroupOffsets(groupId))[0]!.offset, 10)
  }),
  check('in a loop over records the one that it is at is not done', async ({ client, topic, groupId, admin, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 100))
    const one = member({ autoCommitIntervalMs: 600_000 }).subscribeOnly([name])
    for await (const record of one.consumer) {
      if (record.text() === '5') await one.consumer.commit()
      if (record.text() === '7') break
    }
    assert.equal((await admin.listGroupOffsets(groupId))[0]!.offset, 6)
    await one.consumer[Symbol.asyncDispose]()
    assert.equal((await admin.listGroupOffsets(groupId))[0]!.offset, 7)
    const two = member().subscribeOnly([name])
    for await (const record of two.consumer) {
      assert.equal(record.text(), '7')
      break
    }
    await two.close()
    assert.equal((await admin.listGroupOffsets(groupId))[0]!.offset, 8)
  }),
  check('commits are refused of a member that is out, and what it has lost it is told of when it polls', async ({ client, topic, admin, groupId, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 10))
    const one = member({ autoCommit: false, pollIntervalMsMax: 500 }).subscribeOnly([name])
    await one.consumer.poll()
    while ((await admin.describeGroups([groupId]))[0]!.members.length > 0);
    await rejects(one.consumer.commit([{ topic: name, partition: 0, offset: 10 }], { timeoutMs: 5000 }), 'MR_CLIENT_GROUP_COMMIT_REFUSED')
    assert.deepEqual(one.told, ['assigned 0'])
    assert.equal((await one.consumer.poll())[0]!.text(), '0')
    assert.deepEqual(one.told, ['assigned 0', 'lost 0', 'assigned 0'])
    await one.consumer.commit()
    await one.close()
  }),
]

const beginning = (check: Check): SuiteCheck[] => [
  check('begins where offsetReset says when nothing is committed', async ({ client, topic, member, groupId }) => {
    const name = await topic(1)
    const nowMs = Date.now()
    await send(client, [{ topic: name, value: 'old', timestamp: nowMs - 3_600_000 }, { topic: name, value: 'young', timestamp: nowMs - 1000 }])
    const first = async (offsetReset: 'earliest' | { durationMs: number }): Promise<string | null> => {
      const one = member({ groupId: groupName(), offsetReset }).subscribeOnly([name])
      const [record] = await one.consumer.poll({ maxRecords: 1 })
      await one.close()
      return record!.text()
    }
    assert.equal(await first('earliest'), 'old')
    assert.equal(await first({ durationMs: 600_000 }), 'young')
    const late = member({ offsetReset: 'latest' }).run([name])
    await late.until(() => late.has.size === 1, 'it is assigned')
    await late.consumer.position({ topic: name, partition: 0 })
    await send(client, [{ topic: name, value: 'new' }])
    await late.until(() => late.values.length === 1, 'the new one is read')
    assert.deepEqual(late.values, ['new'])
    await late.close()
    const strict = member({ groupId: `${groupId}-strict`, offsetReset: 'error' }).subscribeOnly([name])
    await rejects(strict.consumer.poll(), 'MR_CLIENT_GROUP_NO_OFFSET')
    strict.consumer.seek({ topic: name, partition: 0, offset: 1 })
    assert.equal((await strict.consumer.poll({ maxRecords: 1 }))[0]!.text(), 'young')
    await strict.close()
  }),
  check('a listener may seek before anything is read', async ({ client, topic, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 10))
    const one: TestMember = member({}, { onAssigned: ([partition]) => { one.consumer.seek({ ...partition!, offset: 7 }) } }).run([name])
    await one.until(() => one.values.length === 3, 'the rest is read')
    assert.deepEqual(one.values, ['7', '8', '9'])
    await one.close()
  }),
  check('says how far it is behind', async ({ client, topic, member }) => {
    const name = await topic(2)
    await send(client, numbered(name, 2, 0, 100))
    const one = member().subscribeOnly([name])
    let polled = 0
    while (polled < 30) polled += (await one.consumer.poll({ maxRecords: 10 })).length
    const lag = await one.consumer.lag()
    assert.equal(lag.reduce((sum, each) => sum + each.lag!, 0), 100 - polled)
    await one.close()
  }),
]

const membership = (check: Check, protocol: GroupProtocol): SuiteCheck[] => [
  check('a handler that is stuck does not stay a member, and is one again with its next poll', async ({ client, topic, member }) => {
    const name = await topic(2)
    await send(client, numbered(name, 2, 0, 20))
    const stuck = member({ pollIntervalMsMax: 1500 }).subscribeOnly([name])
    assert.notEqual((await stuck.consumer.poll()).length, 0)
    const other = member().run([name])
    await other.until(() => other.has.size === 2, 'the other has all')
    assert.deepEqual(stuck.told, ['assigned 0,1'])
    stuck.run([name])
    await untilAll([stuck, other], () => stuck.has.size === 1 && other.has.size === 1, 'each has one')
    assert.equal(stuck.told[1], 'lost 0,1')
    await Promise.all([stuck.close(), other.close()])
  }),
  check('a poll ends when its signal does, and the membership stays', async ({ topic, member }) => {
    const name = await topic(1)
    const one = member().run([name])
    await one.until(() => one.has.size === 1, 'it is assigned')
    await one.stop()
    assert.equal(one.failure, undefined)
    assert.ok(one.consumer.groupMembership().generation > 0)
    assert.deepEqual(await one.consumer.poll({ timeoutMs: 50 }), [])
    await one.close()
  }),
  check('leaves and joins again when it unsubscribes and subscribes', async ({ client, topic, admin, groupId, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 10))
    const one = member().subscribeOnly([name])
    await one.consumer.poll({ maxRecords: 5 })
    await one.consumer.unsubscribe()
    assert.deepEqual([one.told, one.consumer.assignment()], [['assigned 0', 'revoked 0'], []])
    assert.equal((await admin.describeGroups([groupId]))[0]!.members.length, 0)
    one.run([name])
    await one.until(() => one.values.length === 5, 'the rest is read')
    assert.equal(one.values[0], '5')
    await one.close()
  }),
  check('a static member that comes back has its partitions again, and nobody else has noticed', async ({ topic, member }) => {
    const name = await topic(2)
    const [one, two] = ['one', 'two'].map(groupInstanceId => member({ groupInstanceId }).run([name]))
    await untilAll([one!, two!], () => one!.has.size === 1 && two!.has.size === 1, 'each has one')
    const had = [...one!.has]
    const heard = two!.told.length
    await one!.close()
    const again = member({ groupInstanceId: 'one' }).run([name])
    await untilAll([again, two!], () => again.has.size === 1, 'it has one again')
    assert.deepEqual([[...again.has], two!.told.length], [had, heard])
    await Promise.all([again.close({ leave: true }), two!.close({ leave: true })])
  }),
  check('of two members with the same groupInstanceId one is told', async ({ topic, member }) => {
    const name = await topic(1)
    const one = member({ groupInstanceId: 'same' }).run([name])
    await one.until(() => one.has.size === 1, 'the first is in')
    const two = member({ groupInstanceId: 'same' }).run([name])
    const loser = protocol === 'classic' ? one : two
    await assert.rejects(loser.until(() => false, 'one is told'), (error: unknown) => isMillraceError(error, 'MR_CLIENT_GROUP_FENCED'))
    assert.equal(loser.has.size, 0)
    await Promise.all([one.close({ leave: true }), two.close({ leave: true })])
  }),
  check('what a listener throws, poll rejects with once', async ({ client, topic, member }) => {
    const name = await topic(1)
    await send(client, numbered(name, 1, 0, 5))
    const one = member({}, { onAssigned: () => { throw new Error('no such table') } }).subscribeOnly([name])
    await assert.rejects(one.consumer.poll(), /no such table/)
    assert.equal((await one.consumer.poll()).length, 5)
    await one.close()
  }),
]

const administering = (check: Check): SuiteCheck[] => [
  check('is listed, described, moved and deleted by an admin', async ({ client, topic, admin, groupId, member }) => {
    const name = await topic(2)
    await send(client, numbered(name, 2, 0, 20))
    const one = member().run([name])
    await one.until(() => one.values.length === 20, 'all is read')
    await one.consumer.commit()
    const [group] = await admin.describeGroups([groupId])
    assert.deepEqual([group!.state, group!.members.length, group!.members[0]!.assignment.length], ['Stable', 1, 2])
    assert.equal((await admin.listGroups()).find(each => each.groupId === groupId)!.protocolType, 'consumer')
    assert.ok((await admin.listGroups({ states: ['Stable'] })).some(each => each.groupId === groupId))
    const offsets = [{ topic: name, partition: 0, offset: 3 }]
    await rejects(admin.alterGroupOffsets(groupId, offsets), 'MR_CLIENT_GROUP_NOT_EMPTY')
    await rejects(admin.deleteGroups([groupId]), 'MR_CLIENT_GROUP_NOT_EMPTY')
    await rejects(admin.deleteGroupOffsets(groupId, offsets.map(({ topic: t, partition }) => ({ topic: t, partition }))), 'MR_CLIENT_GROUP_NOT_EMPTY')
    await one.close()
    await admin.alterGroupOffsets(groupId, offsets)
    assert.deepEqual((await admin.listGroupOffsets(groupId)).map(({ partition, offset }) => [partition, offset]), [[0, 3], [1, 10]])
    await admin.deleteGroupOffsets(groupId, [{ topic: name, partition: 1 }])
    assert.deepEqual((await admin.listGroupOffsets(groupId, [0, 1].map(partition => ({ topic: name, partition })))).map(({ offset }) => offset), [3, -1])
    await admin.deleteGroups([groupId])
    await rejects(admin.describeGroups([groupId]), 'MR_CLIENT_GROUP_UNKNOWN')
    await rejects(admin.deleteGroups([groupId]), 'MR_CLIENT_GROUP_UNKNOWN')
    assert.deepEqual(await admin.listGroupOffsets(groupId), [])
  }),
]

/** Of the classic protocol alone: members share out themselves. */
const assigning: readonly SuiteCheck[] = (['cooperative-sticky', 'sticky', 'range', 'roundrobin'] as const).map(assignor => ({
  name: `classic group: shares out with ${assignor}`,
  run: async ({ client, topic, admin }) => {
    const groupId = groupName()
    const names = [await topic(3), await topic(3)]
    const members = [0, 1, 2].map(() => new TestMember(client, { groupId, assignors: [assignor] }).run(names))
    await untilAll(members, () => members.every(({ has }) => has.size === 2), 'each has two')
    // Members that give partitions up join once more, though each has its two already: until then no assignor is named.
    let described = (await admin.describeGroups([groupId]))[0]!
    while (described.state !== 'Stable') described = (await admin.describeGroups([groupId]))[0]!
    assert.equal(described.assignor, assignor)
    await send(client, names.flatMap(name => numbered(name, 3, 0, 30)))
    await untilAll(members, () => members.reduce((sum, { values }) => sum + values.length, 0) === 60, 'all is read')
    assert.equal(new Set(members.flatMap(({ offsets }) => offsets)).size, 60)
    await Promise.all(members.map(member => member.close()))
  },
}))

const strangers: SuiteCheck = {
  name: 'classic group: members without an assignor in common are refused',
  run: async ({ client, topic }) => {
    const groupId = groupName()
    const name = await topic(1)
    const one = new TestMember(client, { groupId, assignors: ['range'] }).run([name])
    await one.until(() => one.has.size === 1, 'one is in')
    const two = new TestMember(client, { groupId, assignors: ['sticky'] }).run([name])
    await assert.rejects(two.until(() => false, 'it is refused'), (error: unknown) => isMillraceError(error, 'MR_CLIENT_GROUP_REFUSED'))
    await Promise.all([one.close(), two.close()])
  },
}

export const classicGroupChecks: readonly SuiteCheck[] = [...checksOf('classic'), ...assigning, strangers]

/** Of the consumer protocol alone: the coordinator matches the pattern. */
const matching: SuiteCheck = {
  name: 'consumer group: the broker matches an RE2 pattern, and refuses what is none',
  run: async ({ client, admin, topic }) => {
    const groupId = groupName()
    const names = ['a', 'b'].map(each => `${groupId}-${each}`)
    await admin.createTopics(names.map(name => ({ name, partitions: 1, replicationFactor: 1 })))
    await send(client, names.map((name, index) => ({ topic: name, value: String(index) })))
    const one = new TestMember(client, { groupId, groupProtocol: 'consumer' }).run({ re2: `${groupId}-[ab]` })
    await one.until(() => one.values.length === 2, 'both are read')
    await one.close()
    const wrong = new TestMember(client, { groupId, groupProtocol: 'consumer' }).run({ re2: '(a' })
    await assert.rejects(wrong.until(() => false, 'it is refused'), (error: unknown) => isMillraceError(error, 'MR_CLIENT_GROUP_REFUSED'))
    await wrong.close()
    const unknown = new TestMember(client, { groupId: groupName(), groupProtocol: 'consumer', serverAssignor: 'nobody' }).run([await topic(1)])
    await assert.rejects(unknown.until(() => false, 'it is refused'), (error: unknown) => isMillraceError(error, 'MR_CLIENT_GROUP_REFUSED'))
    await unknown.close()
  },
}

export const consumerGroupChecks: readonly SuiteCheck[] = [...checksOf('consumer'), matching]
