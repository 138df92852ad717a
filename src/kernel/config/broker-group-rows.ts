import { clusterWide, fixed, row } from './broker-row.ts'
import { intMax, none, works, type BrokerConfigRow } from './config-row.ts'

const noGroupSettings = none('groups have no settings of their own yet')
const bothServed = none('the classic and the consumer protocol are always served, the others are not')
const groupCommit = none('an append begins at once, and one sync covers all that came meanwhile')
const oneLoop = none('the coordinator runs on the event loop, without threads')

/** Consumer groups and committed offsets. */
export const brokerGroupRows: readonly BrokerConfigRow[] = [
  row('group.consumer.assignment.interval.ms', 'int', '1000', clusterWide, works, 'Least time between two assignments of a group.', { min: 0 }),
  row('group.consumer.assignor.offload.enable', 'boolean', 'true', clusterWide, oneLoop,
    'Whether assignments are computed on threads of their own.', { internal: true }),
  row('group.consumer.assignors', 'list', 'uniform,range', fixed, works, 'Assignors of consumer groups, the default one first.', { values: ['uniform', 'range'], filled: true }),
  row('group.consumer.heartbeat.interval.ms', 'int', '5000', fixed, works,
    'Time between two heartbeats of a consumer group\'s members.', { min: 1 }),
  row('group.consumer.max.assignment.interval.ms', 'int', '15000', fixed, noGroupSettings,
    'Largest assignment interval that a group may be given.', { min: 0 }),
  row('group.consumer.max.heartbeat.interval.ms', 'int', '15000', fixed, noGroupSettings,
    'Largest heartbeat interval that a group may be given.', { min: 1 }),
  row('group.consumer.max.session.timeout.ms', 'int', '60000', fixed, noGroupSettings, 'Largest session timeout that a group may be given.', { min: 1 }),
  row('group.consumer.max.size', 'int', intMax, fixed, works, 'Most members of a consumer group.', { min: 1 }),
  row('group.consumer.migration.policy', 'string', 'bidirectional', fixed, works,
    'Whether classic groups become consumer groups, and the other way, while they run.', { values: ['DISABLED', 'DOWNGRADE', 'UPGRADE', 'BIDIRECTIONAL'], anyCase: true }),
  row('group.consumer.min.assignment.interval.ms', 'int', '0', fixed, noGroupSettings, 'Least assignment interval that a group may be given.', { min: 0 }),
  row('group.consumer.min.heartbeat.interval.ms', 'int', '5000', fixed, noGroupSettings, 'Least heartbeat interval that a group may be given.', { min: 1 }),
  row('group.consumer.min.session.timeout.ms', 'int', '45000', fixed, noGroupSettings, 'Least session timeout that a group may be given.', { min: 1 }),
  row('group.consumer.regex.refresh.interval.ms', 'int', '600000', fixed, works,
    'Time after which subscriptions by pattern are matched again.', { min: 10000, internal: true }),
  row('group.consumer.session.timeout.ms', 'int', '45000', fixed, works,
    'Time without a heartbeat after which a member of a consumer group is removed.', { min: 1 }),
  row('group.coordinator.append.linger.ms', 'int', '-1', fixed, groupCommit,
    'Time that the coordinator waits to put more into one append; -1 adapts to the load.', { min: -1 }),
  row('group.coordinator.background.threads', 'int', '2', fixed, oneLoop,
    'Threads for the coordinator\'s heavy work, such as assignments.', { min: 1 }),
  row('group.coordinator.cached.buffer.max.bytes', 'int', '1048588', clusterWide, groupCommit,
    'Largest append buffer that the coordinator keeps for reuse.', { min: 524_288 }),
  row('group.coordinator.rebalance.protocols', 'list', 'classic,consumer,streams', fixed, bothServed,
    'Group protocols that are served.', { values: ['consumer', 'classic', 'share', 'streams'] }),
  row('group.coordinator.threads', 'int', '4', fixed, oneLoop, 'Threads of the group coordinator.', { min: 1 }),
  row('group.initial.rebalance.delay.ms', 'int', '3000', fixed, works,
    'Time that an empty classic group waits for more members before its first assignment.', { min: 0 }),
  row('group.max.session.timeout.ms', 'int', '1800000', fixed, works, 'Longest session timeout that a member of a classic group may ask for.', { min: 1 }),
  row('group.max.size', 'int', intMax, fixed, works, 'Most members of a classic group.', { min: 1 }),
  row('group.min.session.timeout.ms', 'int', '6000', fixed, works, 'Shortest session timeout that a member of a classic group may ask for.', { min: 1 }),
  row('offset.metadata.max.bytes', 'int', '4096', fixed, works, 'Largest text that may be committed with an offset.', { min: 0 }),
  row('offsets.commit.timeout.ms', 'int', '5000', fixed, works, 'Longest wait for an offset commit to be replicated.', { min: 1 }),
  row('offsets.load.buffer.size', 'int', '5242880', fixed, works, 'Bytes read at a time when committed offsets are loaded; 524288 at most, whatever is set.', { min: 1 }),
  row('offsets.retention.check.interval.ms', 'long', '600000', fixed, works, 'Time between two looks for offsets that have expired.', { min: 1 }),
  row('offsets.retention.minutes', 'int', '10080', fixed, works, 'Minutes that offsets of an empty group are kept.', { min: 1 }),
  row('offsets.topic.compression.codec', 'int', '0', fixed, works, 'Number of the codec of __consumer_offsets; 0 is none.', { min: 0, max: 4 }),
  row('offsets.topic.num.partitions', 'int', '50', fixed, works, 'Partitions of __consumer_offsets.', { min: 1 }),
  row('offsets.topic.replication.factor', 'short', '3', fixed, works, 'Replication factor of __consumer_offsets.', { min: 1 }),
  row('offsets.topic.segment.bytes', 'int', '104857600', fixed, works, 'Largest segment of __consumer_offsets. One is closed earlier, from 1 MiB on, when it is a larger share of its partition than min.cleanable.dirty.ratio allows: so it is compacted.',
    { min: 1_048_576, stricter: 'the topic could not be made: it is the least segment.bytes' }),
]
