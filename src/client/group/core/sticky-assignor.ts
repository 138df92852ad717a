import { BytesReader } from '../../../base/bytes-reader.ts'
import { BytesWriter } from '../../../base/bytes-writer.ts'
import { isBytesError } from '../../../base/bytes-error.ts'
import { type Assignor, type GroupAssignment, type GroupMember, type OwnState } from './assignor.ts'
import { balancedAssignment, claims } from './balanced-assignment.ts'
import { byTopic, keyOf, type TopicPartition } from './topic-partitions.ts'

/**
 * As even as can be, and of what members have as much as can be left with them. Members give up everything in a rebalance, so what they had is told in
 * user data, in the format of Java's StickyAssignor.
 */
export const stickyAssignor: Assignor = {
  name: 'sticky',
  isCooperative: false,
  userData: encodeOwned,
  ownedFrom: decodeOwned,
  assign: balancedAssignment,
}

/**
 * The same, and members keep what stays theirs through the rebalance. What goes from one to another is given to nobody at first: its owner gives it up and
 * asks for another rebalance, in which it is free.
 */
export const cooperativeStickyAssignor: Assignor = {
  name: 'cooperative-sticky',
  isCooperative: true,
  userData: ({ generation }) => {
    const writer = new BytesWriter(4)
    writer.int32(generation)
    return writer.finish()
  },
  assign: (members, counts) => withholdMoving(members, balancedAssignment(members, counts)),
}

function withholdMoving(members: readonly GroupMember[], assignment: GroupAssignment): GroupAssignment {
  const owners = claims(members)
  for (const [memberId, partitions] of assignment) {
    assignment.set(memberId, partitions.filter((each) => {
      const owner = owners.get(keyOf(each))
      return owner === undefined || owner === memberId
    }))
  }
  return assignment
}

/** Topics with their partitions, and the generation: schema version 1 of Java's. */
function encodeOwned({ owned, generation }: OwnState): Uint8Array {
  const writer = new BytesWriter()
  const topics = byTopic(owned)
  writer.int32(topics.length)
  for (const { topic, partitions } of topics) {
    const name = new TextEncoder().encode(topic)
    writer.int16(name.length)
    writer.raw(name)
    writer.int32(partitions.length)
    for (const partition of partitions) writer.int32(partition)
  }
  writer.int32(generation)
  return writer.finish()
}

/** Undefined for bytes that hold none. Schema version 0 ends before the generation. */
function decodeOwned(userData: Uint8Array): OwnState | undefined {
  const reader = new BytesReader(userData)
  const owned: TopicPartition[] = []
  try {
    for (let topics = reader.int32(); topics > 0; topics--) {
      const length = reader.int16()
      const topic = new TextDecoder().decode(userData.subarray(reader.position, reader.position + length))
      reader.skip(length)
      for (let count = reader.int32(); count > 0; count--) owned.push({ topic, partition: reader.int32() })
    }
    return { owned, generation: reader.remaining >= 4 ? reader.int32() : -1 }
  } catch (error) {
    if (isBytesError(error)) return undefined
    throw error
  }
}
