import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { type RecordDraft } from '../../../../src/kernel/model/replay-machine.ts'
import { ClassicGroup } from '../../../../src/plugins/coordinator-group/core/classic-group.ts'
import { type GroupRules } from '../../../../src/plugins/coordinator-group/core/group-commands.ts'
import { GroupOffsets } from '../../../../src/plugins/coordinator-group/core/group-offsets.ts'
import { GroupMachine } from '../../../../src/plugins/coordinator-group/core/group-machine.ts'
import { groupRecord, groupTombstone, offsetRecord, offsetTombstone } from '../../../../src/plugins/coordinator-group/core/group-writer.ts'
import { OffsetLoad } from '../../../../src/plugins/coordinator-group/core/offset-load.ts'
import { encodeConsumerKey, encodeConsumerValue } from '../../../../src/wire/consumer-group-records.ts'
import { consumerRules, FakeTopics } from './fake-topics.ts'

const rules: GroupRules = {
  initialRebalanceDelayMs: 0, sessionTimeoutMinMs: 100, sessionTimeoutMaxMs: 100_000, groupSizeMax: 6, offsetMetadataBytesMax: 100, offsetsRetentionMs: 50_000, retentionCheckIntervalMs: 3000,
  consumer: consumerRules,
}

const topicId = 'mKYwH6x0QDuRL3bZ1OyCmA'

/** The same key as brokers of long ago wrote it. */
function legacy({ key, value }: RecordDraft): RecordDraft {
  const old = key.slice()
  old[1] = 0
  return { key: old, value }
}

/** Any record that a coordinator may have written, of few groups. */
function anyRecord(random: Prng): RecordDraft {
  const pick = <T>(of: readonly T[]): T => of[random.uint32() % of.length]!
  const group = pick(['a', 'b', 'c', 'd'])
  const [topic, partition] = [pick(['t', 'u']), random.uint32() % 2]
  const offset = { topic, partition, topicId: pick([topicId, 'AAAAAAAAAAAAAAAAAAAAAA']), offset: random.uint32(), leaderEpoch: pick([-1, 3]), metadata: pick(['', '', 'mine']) }
  const commit = offsetRecord(group, offset, random.uint32(), pick([-1, -1, -1, 77]))
  switch (random.uint32() % 20) {
    case 0: return groupTombstone(group)
    case 1: {
      const classic = new ClassicGroup(group, random.uint32())
      classic.generation = random.uint32() % 100
      classic.protocolType = pick([null, 'consumer'])
      return groupRecord(classic)
    }
    case 2: return { key: encodeConsumerKey.group(group), value: pick([null, encodeConsumerValue.group({ epoch: random.uint32() % 100, metadataHash: 0 })]) }
    case 3: case 4: return offsetTombstone(group, topic, partition)
    case 5: return legacy(pick([commit, offsetTombstone(group, topic, partition)]))
    default: return commit
  }
}

const stateOf = ({ groups, consumers, offsets }: GroupMachine): unknown => ({
  classic: [...groups.values()].map(({ groupId, generation, protocolType, state, stateSinceMs }) => ({ groupId, generation, protocolType, state, stateSinceMs })),
  consumers: [...consumers.groups.values()].map(({ groupId, epoch }) => ({ groupId, epoch })),
  offsets: [...offsets.all()],
})

/** A machine that looks at each record by itself: one whose load has ended. */
function naive(): GroupMachine {
  const machine = new GroupMachine(rules, new FakeTopics())
  machine.apply({ type: 'expiry', place: undefined, atMs: Infinity })
  return machine
}

describe('a load', () => {
  const seeds = process.env['LOAD_SEEDS'] === undefined ? [1, 2, 3, 4, 5] : Array.from({ length: Number(process.env['LOAD_SEEDS']) }, (_, index) => 1000 + index)

  it.each(seeds)('seed %d: comes to the same, in the same order, as replaying each record by itself, after every record of a random history', (seed) => {
    const random = new Prng(seed)
    const [loading, plain] = [new GroupMachine(rules, new FakeTopics()), naive()]
    for (let count = 0; count < 3000; count++) {
      const { key, value } = anyRecord(random)
      // The bytes are the caller's again afterwards.
      const lent = [key.slice(), value?.slice() ?? null] as const
      loading.replay(...lent)
      for (const bytes of lent) bytes?.fill(0xff)
      plain.replay(key, value)
      expect(stateOf(loading), `after record ${count}`).toEqual(stateOf(plain))
    }
  })

  it('knows so many keys by their bytes; offsets of others are to be replayed as any other record', () => {
    const [load, offsets] = [new OffsetLoad(2), new GroupOffsets()]
    const commitOf = (partition: number, offset: number): RecordDraft => offsetRecord('g', { topic: 't', partition, topicId, offset, leaderEpoch: 0, metadata: '' }, 1, -1)
    const overwritten = [1, 2].map((offset) => [0, 1, 2, 3].map((partition) => {
      const { key, value } = commitOf(partition, offset)
      if (load.overwrite(key, value!)) return true
      load.kept(key, offsets.set('g', 't', partition, { offset, leaderEpoch: 0, metadata: '', committedAtMs: 1, expiresAtMs: -1, topicId }))
      return false
    }))
    expect(overwritten).toEqual([[false, false, false, false], [true, true, false, false]])
    expect([...offsets.all()].map(([, , partition, { offset }]) => [partition, offset])).toEqual([[0, 2], [1, 2], [2, 2], [3, 2]])
  })

  it('ends at a record that it cannot read, also where the key is known', () => {
    const machine = new GroupMachine(rules, new FakeTopics())
    const { key, value } = offsetRecord('g', { topic: 't', partition: 0, topicId, offset: 1, leaderEpoch: 0, metadata: '' }, 1, -1)
    machine.replay(key, value)
    const newer = value!.slice()
    newer[1] = 5
    expect(() => { machine.replay(key, newer) }).toThrow('its version is 5')
    expect(() => { machine.replay(key, value!.subarray(0, 20)) }).toThrow('OffsetCommitValue')
    expect([...machine.offsets.all()].map(([, , , { offset }]) => offset)).toEqual([1])
  })
})
