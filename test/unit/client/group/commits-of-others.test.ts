import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type OffsetToCommit } from '../../../../src/client/index.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { kafkaErrors, type OffsetCommitRequest, type OffsetCommitResponse } from '../../../../src/wire/index.ts'
import { seedsOf } from '../../../integration/seeds.ts'
import { type GroupWorld, inGroupWorld, Listening } from './group-world.ts'

const offsetCommit = 8
const partitions = 2
const all = Array.from({ length: partitions }, (_, partition) => ({ topic: 'orders', partition }))
const codeOf = (work: Promise<void>): Promise<unknown> => work.then(() => 'committed', (error: unknown) => isMillraceError(error) ? error.code : error)

async function fill(world: GroupWorld, each = 10): Promise<void> {
  const client = world.client({ undisturbed: true })
  await client.admin().createTopics([{ name: 'orders', partitions }])
  await client.producer().sendMany(Array.from({ length: each * partitions }, (_, index) => ({ topic: 'orders', partition: index % partitions, value: 'x' })))
  await client.close()
}

async function committed(world: GroupWorld): Promise<number[]> {
  const client = world.client({ undisturbed: true })
  const found = await client.admin().listGroupOffsets('g', all)
  await client.close()
  return found.map(({ offset }) => offset)
}

/** As the answer to a commit when the coordinator has something else to do. */
const refusedWith = (response: object, errorCode: number): OffsetCommitResponse => {
  const { topics, ...rest } = response as OffsetCommitResponse
  return { ...rest, topics: topics.map(topic => ({ ...topic, partitions: topic.partitions.map(each => ({ ...each, errorCode })) })) }
}

describe.each(['classic', 'consumer'] as const)('a commit of a member, %s protocol', (groupProtocol) => {
  const options = { groupId: 'g', groupProtocol, autoCommit: false, pollIntervalMsMax: 1500 }

  /** One has had all, and is out; the other has it, and has committed. */
  async function outAndBack(world: GroupWorld): Promise<{ readonly one: Listening, readonly other: Listening }> {
    await fill(world)
    const one = new Listening(world, world.client(), options).subscribe(['orders'])
    const other = new Listening(world, world.client({ undisturbed: true }), options).subscribe(['orders'])
    await one.until(() => one.consumer.assignment().length === partitions)
    return { one, other }
  }

  it('is refused for partitions that are others\' by now, and made for its own', () => inGroupWorld(async (world) => {
    const { one, other } = await outAndBack(world)
    await other.until(() => other.consumer.assignment().length === partitions)
    await Promise.all([one, other].map(each => each.until(() => [one, other].every(({ consumer }) => consumer.assignment().length === 1))))
    const [mine, theirs] = [one, other].map(({ consumer }) => consumer.assignment()[0]!)
    await other.consumer.commit([{ ...theirs!, offset: 9 }])
    await expect(one.consumer.commit([{ ...theirs!, offset: 3 }])).rejects.toMatchObject({ code: 'MR_CLIENT_GROUP_COMMIT_REFUSED', message: expect.stringContaining(`orders-${theirs!.partition}`) as string })
    expect(await codeOf(one.consumer.commit([{ ...theirs!, offset: 4 }, { ...mine!, offset: 5 }]))).toBe('MR_CLIENT_GROUP_COMMIT_REFUSED')
    const offsets = await committed(world)
    expect([offsets[mine!.partition], offsets[theirs!.partition]]).toEqual([5, 9])
    await Promise.all([one, other].map(({ consumer }) => consumer.close()))
  }))

  it.each(['some of it', 'all of it'])('that is tried again is refused when the member was out in between, also where it is given %s again', what => inGroupWorld(async (world) => {
    const { one, other } = await outAndBack(world)
    let isBusy = true
    const sent: OffsetCommitRequest[] = []
    world.interfere = ({ apiKey, request }, response) => {
      if (apiKey !== offsetCommit) return undefined
      if (!isBusy) sent.push(request as OffsetCommitRequest)
      return isBusy ? refusedWith(response, kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS) : undefined
    }
    const early = codeOf(one.consumer.commit(all.map(each => ({ ...each, offset: 3 })), { timeoutMs: 600_000 }))
    await other.until(() => other.consumer.assignment().length === partitions)
    await other.consumer.commit(all.map(each => ({ ...each, offset: 9 })))
    if (what === 'all of it') {
      await other.consumer.close()
      await one.until(() => one.consumer.assignment().length === partitions && one.told.length > 2)
    } else await Promise.all([one, other].map(each => each.until(() => [one, other].every(({ consumer }) => consumer.assignment().length === 1))))
    isBusy = false
    expect(await early).toBe('MR_CLIENT_GROUP_COMMIT_REFUSED')
    expect(sent).toEqual([])
    expect(await committed(world)).toEqual([9, 9])
    await Promise.all([one, other].map(({ consumer }) => consumer.close()))
  }))

  it.each(seedsOf([1, 2, 3, 4, 5, 6]))('never takes back what another has committed, whatever is late, seed %i', seed => inGroupWorld(async (world) => {
    const prng = new Prng(seed)
    await fill(world, 60)
    const made: string[] = []
    const last = [0, 0]
    const takenBack: string[] = []
    const { clock } = world.sim.clientWorld('client')
    let busyUntilMs = 0
    world.interfere = ({ apiKey, request }, response) => {
      if (apiKey !== offsetCommit) return undefined
      const { memberId, topics } = request as OffsetCommitRequest
      const codes = (response as OffsetCommitResponse).topics[0]!.partitions
      for (const [index, { partitionIndex, committedOffset }] of topics[0]!.partitions.entries()) {
        if (codes[index]!.errorCode !== kafkaErrors.NONE) continue
        made.push(`${partitionIndex}: ${committedOffset} by ${memberId}`)
        if (committedOffset < last[partitionIndex]!) takenBack.push(made.slice(-8).join('; '))
        last[partitionIndex] = committedOffset
      }
      if (prng.chance(0.1)) busyUntilMs = clock.monotonicMs() + 4000
      return clock.monotonicMs() < busyUntilMs ? refusedWith(response, kafkaErrors.COORDINATOR_LOAD_IN_PROGRESS) : undefined
    }
    const commits: Promise<unknown>[] = []
    const live = async (): Promise<void> => {
      const { consumer } = new Listening(world, world.client(), { ...options, autoCommit: prng.chance(0.5), autoCommitIntervalMs: 400 }).subscribe(['orders'])
      while (last.some(offset => offset < 60)) {
        // A commit before a partition is given up may take longer than a member may be busy: it is out then, and is told so by this poll.
        const records = await consumer.poll({ maxRecords: 3, timeoutMs: 300 }).catch((error: unknown) => {
          if (!isMillraceError(error, 'MR_CLIENT_GROUP_LISTENER_STUCK')) throw error
          return []
        })
        const ends = new Map<number, OffsetToCommit>()
        for (const { topic, partition, offset } of records) ends.set(partition, { topic, partition, offset: offset + 1 })
        if (ends.size > 0) commits.push(codeOf(consumer.commit([...ends.values()], { timeoutMs: 30_000 })))
        await world.passes(prng.chance(0.2) ? prng.between(1000, 4000) : prng.between(0, 200))
      }
      await consumer.close()
    }
    await Promise.all([live(), live(), live()])
    expect(takenBack).toEqual([])
    const outcomes = new Set(await Promise.all(commits))
    for (const outcome of outcomes) expect(['committed', 'MR_CLIENT_GROUP_COMMIT_REFUSED', 'MR_CLIENT_BROKER_BUSY', 'MR_CLIENT_CLOSED']).toContain(outcome)
    expect(outcomes).toContain('MR_CLIENT_GROUP_COMMIT_REFUSED')
  }, seed))
})
