import { intendedOfGroups } from './intended-of-groups.ts'
import { type Difference } from './normalize.ts'
import { type Scenario } from './scenario.ts'

/** A difference between millrace and Kafka 4.4 that is meant. */
export interface Intended {
  readonly api: string
  readonly step: RegExp
  /** Of the field in the answer. */
  readonly path: RegExp
  /** Of the values, as `ours / theirs`, where the field alone says too little. */
  readonly values?: RegExp
  readonly why: string
}

const any = /./
const everything = /(?:)/

const list: readonly Intended[] = [
  {
    api: 'Produce', step: any, path: /logStartOffset$/, values: /^-1 \/ 0$/,
    why: 'a refused batch: Kafka adds the log start to some of its errors, no client reads it there',
  },
  {
    api: 'Produce', step: /^null records$/, path: everything, values: /"silence"$/,
    why: 'Kafka fails inside and never answers',
  },
  {
    api: 'Produce', step: /^magic 3$/, path: /errorCode$/,
    why: 'INVALID_RECORD for what cannot be a batch of magic 2, as for magic 1; Kafka says CORRUPT_MESSAGE for one of them',
  },
  {
    api: 'Produce', step: /^codec /, path: /errorCode$/,
    why: 'INVALID_RECORD; in Kafka an exception of the decompressor comes out as UNKNOWN_SERVER_ERROR',
  },
  {
    api: 'Produce', step: /^(bytes behind the batch|delta of record offsets wrong|log append time by the client)$/, path: /(errorCode|baseOffset)$/,
    why: 'refused here; Kafka drops the bytes and does not look at the deltas and the flag of a batch that is not compressed',
  },
  {
    api: 'Produce', step: /^unused attribute bits$/, path: /baseOffset$/,
    why: 'Kafka has accepted the batch of the step before it',
  },
  {
    api: 'Produce', step: /^transactional /, path: /errorCode$/,
    why: 'there are no transactions yet',
  },
  {
    api: 'Produce', step: / again$/, path: /logAppendTimeMs$/,
    why: 'a duplicate: Kafka gives the timestamp of the batch that it remembers, also where the topic keeps CreateTime',
  },
  {
    api: 'Fetch', step: /^unknown partition beside a good one$/, path: any,
    why: 'partitions are answered in the order in which they were asked; Kafka puts the faulty ones last',
  },
  {
    api: 'Fetch', step: any, path: /abortedTransactions$/, values: /^null \/ \[\]$/,
    why: 'null and empty mean the same; Kafka has null for a good partition and empty for a faulty one',
  },
  {
    api: 'Fetch', step: /^(one partition twice|no partitions)$/, path: any,
    why: 'one answer for each entry asked for; Kafka answers the last of two, and leaves out a topic without partitions',
  },
  {
    api: 'Fetch', step: /^isolation level 9$/, path: everything,
    why: 'read as read_uncommitted; Kafka fails with UNKNOWN_SERVER_ERROR',
  },
  {
    api: 'ListOffsets', step: /^(one partition twice|no partitions)$/, path: any,
    why: 'one answer for each entry asked for; Kafka answers once, and leaves out a topic without partitions',
  },
  {
    api: 'Metadata', step: /^first time$/, path: any,
    why: 'a topic made by asking is there when the answer leaves; Kafka answers UNKNOWN_TOPIC_OR_PARTITION until it is',
  },
  {
    api: 'Metadata', step: /^neither$/, path: any,
    why: 'UNKNOWN_TOPIC_ID for the entry without name and id; Kafka fails the whole request with UNKNOWN_SERVER_ERROR',
  },
  {
    api: 'CreateTopics', step: any, path: /topicId$/, values: /"<no id>" \/ "<id>"/,
    why: 'a topic that was only validated has no id; Kafka makes one up',
  },
  {
    api: 'CreateTopics', step: any, path: /configs\.(durability|batch\.check)$/,
    why: 'settings of ours',
  },
  {
    api: 'CreateTopics', step: /^blanks around a value$/, path: /configs\.retention\.ms\.value$/,
    why: 'values are listed as they are read, without the blanks',
  },
  {
    api: 'CreateTopics', step: any, path: /configs\.min\.insync\.replicas\.configSource$/,
    why: "Kafka writes a cluster-wide default of its own at its first start (eligible leader replicas)",
  },
  {
    api: 'DescribeConfigs', step: any, path: /configs\.(durability|batch\.check)$/,
    why: 'settings of ours',
  },
  {
    api: 'DescribeConfigs', step: any, path: /configs\.min\.insync\.replicas\./,
    why: "Kafka writes a cluster-wide default of its own at its first start (eligible leader replicas)",
  },
  {
    api: 'DescribeConfigs', step: /synonyms$/, path: /configs\.(segment\.jitter|flush|retention|segment)\.ms\.synonyms\.length$/,
    why: 'the default is listed; Kafka leaves it out where the broker has the setting in several units',
  },
  {
    api: 'DescribeConfigs', step: /^one of the broker$/, path: /readOnly$/,
    why: 'no setting of a broker can be altered while it runs, yet',
  },
  {
    api: 'IncrementalAlterConfigs', step: /^append nothing$/, path: /errorCode$/,
    why: 'nothing is added; Kafka adds an item without text, and finds fault with it',
  },
  {
    api: 'AlterConfigs', step: /^one topic twice$/, path: everything, values: /"silence"$/,
    why: 'each of the two is answered, with INVALID_REQUEST as in IncrementalAlterConfigs; Kafka fails inside and never answers',
  },
  {
    api: 'ListConfigResources', step: /^(all|loggers)$/, path: /^(resources|types)/,
    why: 'no loggers are told: they have no settings here',
  },
  {
    api: 'DescribeCluster', step: /^endpoint type /, path: /endpointType$/,
    why: 'a refusal repeats the type that was asked for; Kafka says brokers',
  },
  {
    api: 'DeleteTopics', step: /^one name twice$/, path: /length$/,
    why: 'one answer for each entry asked for',
  },
  {
    api: 'CreatePartitions', step: /^(11,000|9,000 and 9,000|2147483647)$/, path: /errorCode$/,
    why: 'INVALID_PARTITIONS above the limit, as in CreateTopics, and others of the request have their own answer; Kafka refuses them all with POLICY_VIOLATION',
  },
  {
    api: 'CreatePartitions', step: /^more of __consumer_offsets, validated$/, path: /errorCode$/,
    why: 'refused: a group is found by the number of partitions, so that Kafka loses the offsets of the groups with it',
  },
  {
    api: 'DescribeTopicPartitions', step: /^names that cannot be$/, path: any,
    why: 'INVALID_TOPIC_EXCEPTION for each; Kafka fails the whole request with UNKNOWN_SERVER_ERROR',
  },
  {
    api: 'DescribeTopicPartitions', step: /^all from a negative partition$/, path: /topics\.length$/,
    why: 'the topic of the cursor is answered with INVALID_REQUEST; the empty answer of Kafka reads as an empty cluster',
  },
  {
    api: 'ElectLeaders', step: /: none$/, path: /^errorCode$/, values: /^42 \/ 0$/,
    why: 'a type that there is not is refused; Kafka keeps the error for partitions, of which none was named',
  },
  {
    api: 'AlterPartitionReassignments', step: /: no topics$/, path: /allowReplicationFactorChange$/,
    why: 'what was asked for is repeated, as where topics are named',
  },
  ...intendedOfGroups,
]

export function intended ({ api }: Scenario, { step, path, ours, theirs }: Difference & { step: string }): boolean {
  return list.some(known => known.api === api.name && known.step.test(step) && known.path.test(path) &&
    (known.values?.test(`${ours} / ${theirs}`) ?? true))
}
