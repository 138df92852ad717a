import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type GroupRules } from './core/group-commands.ts'

const minuteMs = 60_000

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
  }
}
