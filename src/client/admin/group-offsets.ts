import { kafkaErrors, offsetCommitApi, offsetDeleteApi, offsetFetchApi } from '../../wire/index.ts'
import { brokerError } from '../client-error.ts'
import { Coordinator } from '../cluster/coordinator.ts'
import {
  commitRequest, committedIn, fetchRequest, newestByName, refusedIn, type CommittedOffset, type OffsetToCommit,
} from '../cluster/group-offsets.ts'
import { byTopic, type TopicPartition } from '../group/core/topic-partitions.ts'
import { type AdminContext, type AdminOptions } from './admin-context.ts'
import { groupError } from './groups.ts'

/** What a group has committed: of these partitions in their order, or of all, by topic. Partitions without an offset are left out of all, and -1 otherwise. */
export async function listGroupOffsets(admin: AdminContext, groupId: string, partitions: readonly TopicPartition[] | undefined, options: AdminOptions): Promise<CommittedOffset[]> {
  const found = await admin.ask({ coordinator: new Coordinator(admin, groupId) }, offsetFetchApi, version => fetchRequest(version, groupId, partitions ?? null),
    response => committedIn(response, groupId), { ...options, oldest: partitions === undefined ? 2 : 1, newest: newestByName })
  if (partitions === undefined) return found.filter(({ offset }) => offset >= 0).sort((a, b) => a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1)
  const byKey = new Map(found.map(each => [`${each.topic}/${each.partition}`, each]))
  return partitions.map(({ topic, partition }) => byKey.get(`${topic}/${partition}`) ?? { topic, partition, offset: -1, leaderEpoch: -1, metadata: '' })
}

/** Only while the group has no members: they would go on where they are, and commit over it. */
export function alterGroupOffsets(admin: AdminContext, groupId: string, offsets: readonly OffsetToCommit[], options: AdminOptions): Promise<void> {
  const what = `setting the offsets of group ${groupId}`
  const committer = { groupId, memberId: '', generation: -1, instanceId: null }
  return admin.ask({ coordinator: new Coordinator(admin, groupId) }, offsetCommitApi, () => commitRequest(committer, offsets), response => {
    for (const { offset: { topic, partition }, errorCode } of refusedIn(response, offsets)) {
      // Nobody may commit beside the members.
      if (errorCode === kafkaErrors.UNKNOWN_MEMBER_ID) throw groupError(kafkaErrors.NON_EMPTY_GROUP, groupId, what)
      throw brokerError(errorCode, { what: `${what} in ${topic}-${partition}`, topic, partition })
    }
  }, { ...options, newest: newestByName })
}

/** Only of topics that no member is subscribed to. */
export function deleteGroupOffsets(admin: AdminContext, groupId: string, partitions: readonly TopicPartition[], options: AdminOptions): Promise<void> {
  const what = `deleting offsets of group ${groupId}`
  const topics = byTopic(partitions).map(({ topic, partitions: list }) => ({ name: topic, partitions: list.map(partitionIndex => ({ partitionIndex })) }))
  return admin.ask({ coordinator: new Coordinator(admin, groupId) }, offsetDeleteApi, () => ({ groupId, topics }), response => {
    if (response.errorCode !== kafkaErrors.NONE) throw groupError(response.errorCode, groupId, what)
    for (const { name, partitions: list } of response.topics) {
      for (const { partitionIndex: partition, errorCode } of list) {
        if (errorCode === kafkaErrors.GROUP_SUBSCRIBED_TO_TOPIC) throw groupError(kafkaErrors.NON_EMPTY_GROUP, groupId, `${what} in ${name}-${partition}`)
        if (errorCode !== kafkaErrors.NONE) throw brokerError(errorCode, { what: `${what} in ${name}-${partition}`, topic: name, partition })
      }
    }
  }, options)
}
