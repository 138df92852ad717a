import { type Uuid } from '../../../../kernel/model/ids.ts'
import { kafkaErrors } from '../../../../wire/kafka-error-codes.ts'
import { type GroupReplies } from '../group-commands.ts'
import { nothingAssigned, type Assigned } from './assigned.ts'
import { type ConsumerReplies } from './consumer-commands.ts'
import { type ConsumerGroup } from './consumer-group.ts'
import { assignorOf } from './target.ts'
import { type TopicDirectory } from './topic-directory.ts'

type Described = ConsumerReplies['consumerDescribe']

/** ConsumerGroupDescribe. */
export function describedConsumer(group: ConsumerGroup, assignors: readonly string[], topics: TopicDirectory): Described {
  return {
    errorCode: kafkaErrors.NONE, groupId: group.groupId, groupState: group.state, groupEpoch: group.epoch, assignmentEpoch: group.assignmentEpoch, assignorName: assignorOf(group, assignors),
    members: Array.from(group.members.values(), ({ about, current }) => ({
      memberId: about.memberId, instanceId: about.instanceId, rackId: about.rackId, memberEpoch: current.epoch, clientId: about.clientId, clientHost: about.clientHost,
      // Kafka tells no pattern as an empty one.
      subscribedTopicNames: about.topics, subscribedTopicRegex: about.pattern ?? '',
      assignment: named(current.assigned, topics), targetAssignment: named(group.targets.get(about.memberId) ?? nothingAssigned, topics),
      memberType: about.classic === null ? 1 : 0,
    })),
  }
}

export const undescribed = (groupId: string, errorCode: number, errorMessage: string | null): Described =>
  ({ errorCode, errorMessage, groupId, groupState: '', groupEpoch: 0, assignmentEpoch: 0, assignorName: '', members: [] })

export const listedConsumer = ({ groupId, state }: ConsumerGroup): GroupReplies['list'][number] => ({ groupId, protocolType: 'consumer', groupState: state, groupType: 'consumer' })

/** Topics that are no more have no name, and are not told. */
function named(assigned: Assigned, topics: TopicDirectory): { topicPartitions: { topicId: Uuid, topicName: string, partitions: readonly number[] }[] } {
  const topicPartitions: { topicId: Uuid, topicName: string, partitions: readonly number[] }[] = []
  for (const [topicId, partitions] of assigned) {
    const topicName = topics.nameOf(topicId)
    if (topicName !== undefined) topicPartitions.push({ topicId, topicName, partitions })
  }
  return { topicPartitions }
}
