import { type Logger, type Metrics } from '../../kernel/ports/telemetry.ts'
import { type ClassicGroup, type GroupState } from './core/classic-group.ts'
import { ConsumerGroup, type ConsumerGroupState } from './core/consumer/consumer-group.ts'
import { type GroupObserver } from './core/group-change.ts'
import { type GroupMachine } from './core/group-machine.ts'

const states: readonly (GroupState | ConsumerGroupState)[] = ['Empty', 'PreparingRebalance', 'CompletingRebalance', 'Assigning', 'Reconciling', 'Stable']

type AnyGroup = ClassicGroup | ConsumerGroup

/** Tells of groups in the log, and counts their rebalances. */
export function groupObserver(logger: Logger, metrics: Metrics): GroupObserver {
  const rebalances = metrics.counter('millrace_group_rebalances_total', 'Rebalances of groups that have begun.')
  const fields = (group: AnyGroup): Record<string, unknown> => ({
    groupId: group.groupId, ...group instanceof ConsumerGroup ? { epoch: group.epoch } : { generation: group.generation }, members: group.members.size,
  })
  return {
    rebalancing: (group, reason) => {
      rebalances.add(1)
      logger.info('a group rebalances', { ...fields(group), reason })
    },
    stable: (group) => { logger.info('a group is stable', fields(group)) },
    emptied: (group) => { logger.info('a group has no members any more', fields(group)) },
  }
}

/** What an operator sees of the groups that this broker coordinates. */
export function observeGroups(metrics: Metrics, machines: () => readonly { readonly state: string, readonly machine: GroupMachine | undefined }[]): void {
  const groups = (): AnyGroup[] => machines().flatMap(({ machine }) => machine === undefined ? [] : [...machine.groups.values(), ...machine.consumers.groups.values()])
  metrics.gauge('millrace_groups', 'Groups that this broker coordinates.', () => {
    const all = groups()
    return states.map((state) => ({ labels: { state }, value: all.filter((group) => group.state === state).length }))
  })
  metrics.gauge('millrace_group_members', 'Members of the groups that this broker coordinates.', () => groups().reduce((sum, { members }) => sum + members.size, 0))
  metrics.gauge('millrace_group_offsets', 'Offsets that groups have committed.', () => machines().reduce((sum, { machine }) => sum + (machine?.offsets.count ?? 0), 0))
  metrics.gauge('millrace_group_partitions', 'Partitions of __consumer_offsets that this broker leads.', () =>
    ['loading', 'active', 'failed'].map((state) => ({ labels: { state }, value: machines().filter((each) => each.state === state).length })))
}
