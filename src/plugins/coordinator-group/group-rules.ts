import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type ConsumerRules } from './core/consumer/consumer-commands.ts'
import { type GroupRules } from './core/group-commands.ts'

const minuteMs = 60_000

function consumerRules(settings: BrokerSettings): ConsumerRules {
  const policy = settings.text('group.consumer.migration.policy').toUpperCase()
  return {
    sessionTimeoutMs: settings.integer('group.consumer.session.timeout.ms'),
    heartbeatIntervalMs: settings.integer('group.consumer.heartbeat.interval.ms'),
    groupSizeMax: settings.integer('group.consumer.max.size'),
    assignors: settings.list('group.consumer.assignors'),
    assignmentIntervalMs: settings.integer('group.consumer.assignment.interval.ms'),
    regexRefreshIntervalMs: settings.integer('group.consumer.regex.refresh.interval.ms'),
    canUpgrade: policy === 'UPGRADE' || policy === 'BIDIRECTIONAL',
    canDowngrade: policy === 'DOWNGRADE' || policy === 'BIDIRECTIONAL',
  }
}

/** What the broker's settings say about groups. */
export function groupRules(settings: BrokerSettings): GroupRules {
  return {
    initialRebalanceDelayMs: Math.max(0, settings.integer('group.initial.rebalance.delay.ms')),
    sessionTimeoutMinMs: settings.integer('group.min.session.timeout.ms'),
    sessionTimeoutMaxMs: settings.integer('group.max.session.timeout.ms'),
    groupSizeMax: settings.integer('group.max.size'),
    offsetMetadataBytesMax: settings.integer('offset.metadata.max.bytes'),
    offsetsRetentionMs: settings.integer('offsets.retention.minutes') * minuteMs,
    retentionCheckIntervalMs: settings.integer('offsets.retention.check.interval.ms'),
    consumer: consumerRules(settings),
  }
}
