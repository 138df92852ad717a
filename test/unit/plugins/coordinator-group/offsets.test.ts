import { afterEach, describe, expect, it, vi } from 'vitest'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { offsetCommitApi, offsetDeleteApi, offsetFetchApi } from '../../../../src/wire/index.ts'
import { type RequestDraftOf } from '../../../../src/wire/schema/message.ts'
import { turn } from '../protocol-kafka/fixture/test-broker.ts'
import { GroupWorld } from './group-world.ts'

const day = 24 * 60 * 60 * 1000
type Commit = RequestDraftOf<typeof offsetCommitApi>
type Partition = Commit['topics'][number]['partitions'][number]

/** As somebody who is in no group. */
async function commitAlone(world: GroupWorld, committedOffset: number, partition: Partial<Partition> = {}, more: Partial<Commit> = {}, version = 8): Promise<number> {
  const { topics } = await world.client().call(offsetCommitApi, version, {
    groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset, committedMetadata: null, ...partition }] }], ...more,
  })
  return topics[0]!.partitions[0]!.errorCode
}

/** Until the broker looks for expired offsets again, without standing still. */
async function passDays(world: GroupWorld, days: number): Promise<void> {
  const { clock } = world.broker.timers
  clock.setWall(clock.wallMs() + days * day)
  await world.pass(5001)
}

/** Counts what is made to write numbers into buffers and to read them; each has a buffer outside of the heap, as a rule. */
function countViews(): { made: number } {
  const count = { made: 0 }
  const plain = DataView as new (buffer: ArrayBuffer, start?: number, length?: number) => DataView
  vi.stubGlobal('DataView', class extends plain {
    constructor(buffer: ArrayBuffer, start?: number, length?: number) {
      super(buffer, start, length)
      count.made++
    }
  })
  return count
}

afterEach(() => { vi.unstubAllGlobals() })

describe('OffsetCommit', () => {
  it('a commit of thousands of offsets makes no buffer of its own for any: two views read the record of each, and none writes it', async () => {
    const world = await GroupWorld.start()
    world.broker.cluster.topic('many', 3000)
    const viewsFor = async (partitions: number): Promise<number> => {
      const count = countViews()
      const { topics } = await world.client().call(offsetCommitApi, 8, {
        groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '',
        topics: [{ name: 'many', partitions: Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, committedOffset: 1, committedMetadata: '' })) }],
      })
      expect(topics[0]!.partitions.every(({ errorCode }) => errorCode === 0)).toBe(true)
      vi.unstubAllGlobals()
      return count.made
    }
    await viewsFor(10)
    const [few, many] = [await viewsFor(1000), await viewsFor(3000)]
    // What holds the request, its answer and the batch may grow a few times more.
    expect(many - few).toBeLessThan(2 * 2000 + 50)
  })

  it('quirk 50: who is in no group commits while it has no members, and is UNKNOWN_MEMBER_ID while it has', async () => {
    const world = await GroupWorld.start()
    expect(await commitAlone(world, 5)).toBe(0)
    expect(await world.committed()).toBe(5)
    const member = world.member()
    await world.stable(member)
    expect(await commitAlone(world, 6)).toBe(25)
    expect(await world.committed()).toBe(5)
    await member.leave()
    expect(await commitAlone(world, 7)).toBe(0)
  })

  it('quirk 50: a member commits in its generation, also while others join, and not before it has its assignment', async () => {
    const world = await GroupWorld.start()
    const [first, second] = [world.member(), world.member()]
    await world.gather(first, second)
    expect(await first.commit(1)).toBe(27)
    await world.share(first, second)
    expect(await first.commit(2)).toBe(0)
    const again = first.join()
    await turn()
    expect(await second.commit(3)).toBe(0)
    expect(await world.committed()).toBe(3)
    await Promise.all([again, second.join()])
    expect(await second.commit(4, { generationIdOrMemberEpoch: 1 })).toBe(22)
  })

  it('a commit of a generation that is over, of a member that is out or of a fenced instance is refused, and changes nothing', async () => {
    const world = await GroupWorld.start()
    const [zombie, other] = [world.member({ instanceId: 'i' }), world.member()]
    await world.stable(zombie, other)
    await other.commit(10)
    await world.stable(zombie, other)
    expect(await zombie.commit(3, { generationIdOrMemberEpoch: 1 })).toBe(22)
    expect(await zombie.commit(3, { memberId: 'x' })).toBe(82)
    expect(await zombie.commit(3, { memberId: 'x', groupInstanceId: null })).toBe(25)
    await other.leave()
    expect(await other.commit(3)).toBe(25)
    expect(await world.committed()).toBe(10)
  })

  it('of a group that is not there is GROUP_ID_NOT_FOUND from v9 on, and ILLEGAL_GENERATION before', async () => {
    const world = await GroupWorld.start()
    expect(await commitAlone(world, 1, {}, { generationIdOrMemberEpoch: 3, memberId: 'm' })).toBe(22)
    expect(await commitAlone(world, 1, {}, { generationIdOrMemberEpoch: 3, memberId: 'm' }, 9)).toBe(69)
    expect(world.machine().groups.size).toBe(0)
  })

  it('quirk 50: the text comes back unchanged, none as an empty one; the leader epoch too; a text over offset.metadata.max.bytes is refused alone', async () => {
    const world = await GroupWorld.start({ 'offset.metadata.max.bytes': '12' })
    const { topics } = await world.client().call(offsetCommitApi, 8, { groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 'orders', partitions: [
      { partitionIndex: 0, committedOffset: 1, committedLeaderEpoch: 7, committedMetadata: 'grüße an 💥' },
      { partitionIndex: 1, committedOffset: 2, committedMetadata: null },
      { partitionIndex: 2, committedOffset: 3, committedMetadata: 'x'.repeat(13) },
    ] }] })
    expect(topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([12, 0, 12])
    expect(await commitAlone(world, 1, { committedLeaderEpoch: 7, committedMetadata: 'grüße 💥' })).toBe(0)
    const { groups } = await world.client().call(offsetFetchApi, 8, { groups: [{ groupId: 'g', topics: null }] })
    expect(groups[0]!.topics).toEqual([expect.objectContaining({ name: 'orders', partitions: [
      { partitionIndex: 1, committedOffset: 2, committedLeaderEpoch: -1, metadata: '', errorCode: 0 },
      { partitionIndex: 0, committedOffset: 1, committedLeaderEpoch: 7, metadata: 'grüße 💥', errorCode: 0 },
    ] })])
  })

  it('of a topic that is not there fails for that topic alone, in the order of the request', async () => {
    const world = await GroupWorld.start()
    const partitions = [{ partitionIndex: 0, committedOffset: 9, committedMetadata: '' }]
    const { topics } = await world.client().call(offsetCommitApi, 8, { groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '', topics: [
      { name: 'nothing', partitions }, { name: 'letters', partitions }, { name: 'orders', partitions: [...partitions, { partitionIndex: 1, committedOffset: 8, committedMetadata: '' }] },
    ] })
    expect(topics.map((topic) => [topic.name, ...topic.partitions.map(({ errorCode }) => errorCode)])).toEqual([['nothing', 3], ['letters', 0], ['orders', 0, 0]])
    expect(await world.committed('orders', 1)).toBe(8)
  })

  it.each([2, 8, 9, 10])('v%i of a partition that the topic does not have is UNKNOWN_TOPIC_OR_PARTITION for that alone, of members and of others, and is not kept', async (version) => {
    const world = await GroupWorld.start()
    const { id: topicId } = world.broker.cluster.topics.get('orders')!
    const member = world.member({ groupId: 'h' })
    await world.stable(member)
    const claims = [{ groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '' }, { groupId: 'h', generationIdOrMemberEpoch: member.generation, memberId: member.id }]
    for (const claim of claims) {
      const { topics } = await world.client().call(offsetCommitApi, version, {
        ...claim,
        topics: [{ ...(version < 10 ? { name: 'orders' } : { topicId }), partitions: [3, 2, -1, 0x7fff_ffff, 0].map((partitionIndex) => ({ partitionIndex, committedOffset: 5, committedMetadata: null })) }],
      })
      expect(topics[0]!.partitions.map(({ partitionIndex, errorCode }) => [partitionIndex, errorCode])).toEqual([[3, 3], [2, 0], [-1, 3], [0x7fff_ffff, 3], [0, 0]])
      const { groups } = await world.client().call(offsetFetchApi, 8, { groups: [{ groupId: claim.groupId, topics: null }] })
      expect(groups[0]!.topics[0]!.partitions.map(({ partitionIndex }) => partitionIndex).sort()).toEqual([0, 2])
    }
  })

  it('is answered when it is committed, and seen by nobody before', async () => {
    const world = await GroupWorld.start()
    world.replica().follows = false
    let told: unknown[] = []
    void commitAlone(world, 4).then((code) => { told = [...told, code] })
    void world.committed().then((offset) => { told = [...told, offset] })
    await turn()
    expect(told).toEqual([])
    world.replica().advance()
    await turn()
    expect(told).toEqual([0, 4])
  })

  it('that there is no space for is COORDINATOR_NOT_AVAILABLE, and members stay; one that is too large is INVALID_COMMIT_OFFSET_SIZE', async () => {
    const world = await GroupWorld.start({ 'offset.metadata.max.bytes': '5000' })
    const member = world.member()
    await world.stable(member)
    world.replica().appendError = new MillraceError('MR_FILE_NO_SPACE', { operation: 'write', path: '/data' })
    expect(await member.commit(1)).toBe(15)
    world.replica().appendError = undefined
    expect(await member.commit(2)).toBe(0)
    world.replica().settings = { ...world.replica().settings, maxMessageBytes: 1000 }
    expect(await member.commit(3, {}, { committedMetadata: 'x'.repeat(2000) })).toBe(28)
    expect(await world.committed()).toBe(2)
    expect(await member.heartbeat()).toBe(0)
  })
})

describe('OffsetFetch', () => {
  it('quirk 51: what was never committed is -1 and no error, of a group that is not there too; null topics are all that is', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 4, { partitionIndex: 2 })
    const asked = [{ name: 'orders', partitionIndexes: [0, 2] }, { name: 'nothing', partitionIndexes: [0] }]
    for (const version of [1, 2, 5, 7]) {
      const { topics, errorCode } = await world.client().call(offsetFetchApi, version, { groupId: 'g', topics: asked })
      expect(errorCode).toBe(0)
      expect(topics.map(({ name, partitions }) => [name, ...partitions.map((each) => [each.partitionIndex, each.committedOffset, each.metadata, each.errorCode])])).toEqual([
        ['orders', [0, -1, '', 0], [2, 4, '', 0]], ['nothing', [0, -1, '', 0]],
      ])
    }
    expect((await world.client().call(offsetFetchApi, 2, { groupId: 'g', topics: null })).topics.map(({ name, partitions }) => [name, partitions.length])).toEqual([['orders', 1]])
    expect(await world.client().call(offsetFetchApi, 7, { groupId: 'nobody', topics: null, requireStable: true })).toMatchObject({ topics: [], errorCode: 0 })
  })

  it('quirk 51: v8 asks for several groups, each with a result of its own', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 4)
    await commitAlone(world, 5, {}, { groupId: 'h' })
    const { groups } = await world.client().call(offsetFetchApi, 9, { groups: ['h', 'nobody', 'g'].map((groupId) => ({ groupId, topics: [{ name: 'orders', partitionIndexes: [0] }] })) })
    expect(groups.map(({ groupId, topics, errorCode }) => [groupId, topics[0]!.partitions[0]!.committedOffset, errorCode])).toEqual([['h', 5, 0], ['nobody', -1, 0], ['g', 4, 0]])
  })

  it('from a broker that does not coordinate the group says so: in each partition in v1, for the group from v2 on', async () => {
    const world = await GroupWorld.start()
    world.broker.cluster.drop('__consumer_offsets')
    const asked = { groupId: 'g', topics: [{ name: 'orders', partitionIndexes: [0, 1] }] }
    expect((await world.client().call(offsetFetchApi, 1, asked)).topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([16, 16])
    expect(await world.client().call(offsetFetchApi, 7, asked)).toMatchObject({ errorCode: 16, topics: [] })
    expect((await world.client().call(offsetFetchApi, 8, { groups: [asked] })).groups).toEqual([{ groupId: 'g', topics: [], errorCode: 16 }])
  })

  it('tells nothing of a topic that is deleted, or was deleted and made again, though its tombstones could not be written', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 4)
    await commitAlone(world, 4, {}, { topics: [{ name: 'letters', partitions: [{ partitionIndex: 0, committedOffset: 6, committedMetadata: '' }] }] })
    world.broker.cluster.drop('orders')
    await turn()
    expect([...world.machine().offsets.of('g')].map(([topic]) => topic)).toEqual(['letters'])
    world.replica().appendError = new MillraceError('MR_FILE_NO_SPACE', { operation: 'write', path: '/data' })
    world.broker.cluster.drop('letters')
    world.broker.cluster.topic('letters')
    await turn()
    expect(world.machine().offsets.count).toBe(1)
    expect(await world.committed('letters')).toBe(-1)
    expect((await world.client().call(offsetFetchApi, 2, { groupId: 'g', topics: null })).topics).toEqual([])
  })
})

describe('expiry', () => {
  it('of a group without members comes so long after the last one has left, and takes the group with it', async () => {
    const world = await GroupWorld.start({ 'offsets.retention.minutes': String(2 * 24 * 60) })
    const member = world.member()
    await world.stable(member)
    await member.commit(3)
    await member.leave()
    await passDays(world, 1.5)
    expect(await world.committed()).toBe(3)
    await passDays(world, 0.5)
    expect(await world.committed()).toBe(-1)
    expect(world.machine().groups.size).toBe(0)
    await world.reload()
    expect(world.machine().groups.size).toBe(0)
  })

  it('of a group that lives comes only to topics that it does not read any more', async () => {
    const world = await GroupWorld.start({ 'offsets.retention.minutes': String(24 * 60), 'group.max.session.timeout.ms': String(10 * day) })
    await commitAlone(world, 7, {}, { topics: [{ name: 'letters', partitions: [{ partitionIndex: 0, committedOffset: 7, committedMetadata: '' }] }] })
    const member = world.member({ topics: ['orders'], sessionTimeoutMs: 10 * day })
    await world.stable(member)
    await member.commit(3)
    await passDays(world, 2)
    expect(await world.committed('letters')).toBe(-1)
    expect(await world.committed()).toBe(3)
    expect(await member.heartbeat()).toBe(0)
  })

  it('of a group that never had members comes to each offset so long after its commit', async () => {
    const world = await GroupWorld.start({ 'offsets.retention.minutes': String(24 * 60) })
    await commitAlone(world, 1)
    await passDays(world, 0.7)
    await commitAlone(world, 2, { partitionIndex: 1 })
    await passDays(world, 0.7)
    expect([await world.committed('orders', 0), await world.committed('orders', 1)]).toEqual([-1, 2])
    await passDays(world, 0.7)
    expect(world.machine().groups.size).toBe(0)
  })

  it('of an offset with a time of its own (up to v4) goes by that', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 1, {}, { retentionTimeMs: day }, 4)
    await commitAlone(world, 2, { partitionIndex: 1 }, { retentionTimeMs: -1 }, 4)
    await world.reload()
    await passDays(world, 1)
    expect([await world.committed('orders', 0), await world.committed('orders', 1)]).toEqual([-1, 2])
  })

  it('looks at many groups in pieces, and at all of them', async () => {
    const world = await GroupWorld.start({ 'offsets.topic.num.partitions': '4', 'offsets.retention.minutes': '1' })
    const client = world.client()
    for (let index = 0; index < 900; index++) {
      await client.call(offsetCommitApi, 8, { groupId: `g-${index}`, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: '' }] }] })
    }
    const groups = (): number => world.service.machines().reduce((sum, { machine }) => sum + machine!.groups.size, 0)
    expect(groups()).toBe(900)
    await passDays(world, 1)
    expect(groups()).toBe(0)
  })
})

describe('OffsetDelete', () => {
  const remove = (world: GroupWorld, groupId = 'g'): Promise<{ errorCode: number, codes: unknown }> => world.client().call(offsetDeleteApi, 0, { groupId, topics: [
    { name: 'nothing', partitions: [{ partitionIndex: 0 }] }, { name: 'orders', partitions: [{ partitionIndex: 0 }, { partitionIndex: 1 }] }, { name: 'letters', partitions: [{ partitionIndex: 0 }] },
  ] }).then(({ errorCode, topics }) => ({ errorCode, codes: topics.map(({ name, partitions }) => [name, ...partitions.map((each) => each.errorCode)]) }))

  it('forgets what a group without members has committed; a group that is left with nothing is none', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 1)
    expect(await remove(world)).toEqual({ errorCode: 0, codes: [['nothing', 3], ['orders', 0, 0], ['letters', 0]] })
    expect(await world.committed()).toBe(-1)
    expect(await remove(world)).toEqual({ errorCode: 69, codes: [] })
  })

  it('is UNKNOWN_TOPIC_OR_PARTITION for partitions that there are not, in the order of the request, of groups with members and without; a group without a name is INVALID_GROUP_ID', async () => {
    const world = await GroupWorld.start()
    await commitAlone(world, 1)
    await world.stable(world.member({ groupId: 'h', topics: ['letters'] }))
    const partitions = [3, 0, -1, 2].map((partitionIndex) => ({ partitionIndex }))
    for (const groupId of ['g', 'h']) {
      const { errorCode, topics } = await world.client().call(offsetDeleteApi, 0, { groupId, topics: [{ name: 'nothing', partitions }, { name: 'orders', partitions }] })
      expect(errorCode).toBe(0)
      expect(topics.map(({ name, partitions: each }) => [name, ...each.map((one) => [one.partitionIndex, one.errorCode])])).toEqual([
        ['nothing', [3, 3], [0, 3], [-1, 3], [2, 3]], ['orders', [3, 3], [0, 0], [-1, 3], [2, 0]],
      ])
    }
    expect(await world.committed()).toBe(-1)
    expect(await remove(world, '')).toEqual({ errorCode: 24, codes: [] })
  })

  it('is GROUP_SUBSCRIBED_TO_TOPIC for what a living group reads, and NON_EMPTY_GROUP for a group whose reading is not known', async () => {
    const world = await GroupWorld.start()
    await world.stable(world.member({ topics: ['orders'] }))
    expect(await remove(world)).toEqual({ errorCode: 0, codes: [['nothing', 3], ['orders', 86, 86], ['letters', 0]] })
    await world.stable(world.member({ groupId: 'h', protocolType: 'connect' }))
    expect(await remove(world, 'h')).toEqual({ errorCode: 68, codes: [] })
  })
})

describe('offsets by topic id', () => {
  it('v10 commits and fetches by the ids of topics, and says UNKNOWN_TOPIC_ID of one that is not there', async () => {
    const world = await GroupWorld.start()
    const { id } = world.broker.cluster.topics.get('orders')!
    const client = world.client()
    const nobody = 'AAAAAAAAAAAAAAAAAAAABQ'
    const { topics } = await client.call(offsetCommitApi, 10, {
      groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '',
      topics: [nobody, id].map((topicId) => ({ topicId, partitions: [{ partitionIndex: 1, committedOffset: 7, committedMetadata: 'm' }] })),
    })
    expect(topics.map(({ topicId, partitions }) => [topicId, partitions[0]!.errorCode])).toEqual([[nobody, 100], [id, 0]])
    const { groups } = await client.call(offsetFetchApi, 10, { groups: [{ groupId: 'g', topics: [nobody, id].map((topicId) => ({ topicId, partitionIndexes: [1] })) }, { groupId: 'g', topics: null }] })
    expect(groups[0]!.topics.map(({ topicId, partitions }) => [topicId, partitions[0]!.errorCode, partitions[0]!.committedOffset])).toEqual([[nobody, 100, -1], [id, 0, 7]])
    expect(groups[1]!.topics.map(({ topicId, partitions }) => [topicId, partitions[0]!.committedOffset, partitions[0]!.metadata])).toEqual([[id, 7, 'm']])
  })
})
