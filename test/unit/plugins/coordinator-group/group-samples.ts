import { zeroUuid } from '../../../../src/kernel/model/ids.ts'

const topics = [{ name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 1, committedMetadata: null }] }]
const fetched = { name: 'orders', partitionIndexes: [0, 1] }

/** A request of each API that the coordinator of groups serves, in a version, and how many results it asks for. */
export const groupSamples: ReadonlyMap<number, (version: number) => readonly [request: object, results: number]> = new Map<number, (version: number) => readonly [request: object, results: number]>([
  [8, (version) => version >= 10 ? [{ groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '', topics: [{ topicId: zeroUuid, partitions: topics[0]!.partitions }] }, 1] : [{ groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '', topics }, 1]],
  [9, (version) => version >= 10 ? [{ groups: [{ groupId: 'g', topics: [{ topicId: zeroUuid, partitionIndexes: [0, 1] }] }, { groupId: 'h', topics: null }] }, 2] : version < 8 ? [{ groupId: 'g', topics: [fetched] }, 1] : [{ groups: [{ groupId: 'g', topics: [fetched] }, { groupId: 'h', topics: null }] }, 2]],
  [11, () => [{ groupId: 'g', sessionTimeoutMs: 1, memberId: '', protocolType: 'consumer', protocols: [{ name: 'range', metadata: new Uint8Array(1) }] }, 0]],
  [12, () => [{ groupId: 'g', generationId: 1, memberId: 'm' }, 0]],
  [13, (version) => version < 3 ? [{ groupId: 'g', memberId: 'm' }, 0] : [{ groupId: 'g', members: [{ memberId: 'm', groupInstanceId: null }, { memberId: '', groupInstanceId: 'i' }] }, 2]],
  [14, () => [{ groupId: 'g', generationId: 1, memberId: 'm', assignments: [] }, 0]],
  [15, () => [{ groups: ['g', 'h', 'g'] }, 3]],
  [16, () => [{}, 0]],
  [42, () => [{ groupsNames: ['g', 'h', 'g'] }, 3]],
  [47, () => [{ groupId: 'g', topics: [] }, 0]],
  [68, () => [{ groupId: 'g', memberId: 'm', memberEpoch: 3 }, 0]],
  [69, () => [{ groupIds: ['g', 'h', 'g'], includeAuthorizedOperations: false }, 3]],
])
