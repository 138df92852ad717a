import { type BrokerSettingsMap } from '../kernel/config/broker-settings-map.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'

/** What the settings ask of replicas that a broker which keeps one copy of each partition can never have; a sentence each. */
export function copiesWarnings(settings: BrokerSettingsMap, plugins: readonly Plugin[]): string[] {
  if (!plugins.some(({ name }) => name === 'replication-single')) return []
  const warnings: string[] = []
  const factor = settings.integer('default.replication.factor')
  if (factor > 1) {
    warnings.push(`default.replication.factor=${factor} needs as many brokers, and this one keeps the only copy: every topic that asks for no factor of its own is refused; set it to 1`)
  }
  const groups = settings.integer('offsets.topic.replication.factor')
  if (groups > 1 && plugins.some(({ name }) => name === 'coordinator-group')) {
    warnings.push(`offsets.topic.replication.factor=${groups} needs as many brokers, and this one keeps the only copy: no consumer group can be coordinated; set it to 1`)
  }
  const minInsync = settings.integer('min.insync.replicas')
  if (minInsync > 1) {
    warnings.push(`min.insync.replicas=${minInsync} can never be met, there is one copy of each partition: acks=all is refused in every topic that does not set it to 1 itself; set it to 1`)
  }
  return warnings
}
