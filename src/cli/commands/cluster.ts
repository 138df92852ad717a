import { type Command } from 'commander'
import pc from 'picocolors'
import type { Admin, ClusterDescription, TopicDescription } from '../../client/index.ts'
import { addNetworkOptions, withClient, type NetworkFlags } from '../network-options.ts'
import { plural, print, printJson, printTable, printWarning } from '../output.ts'
import { damageLine, damageOf, missingLine, missingOf, type DamagedOffsets } from '../damage-report.ts'
import { clusterBrokersCommand, countReplicas } from './cluster-brokers.ts'
import { clusterRecoverCommand } from './cluster-recover.ts'
import { offlineReason } from '../shown.ts'
import { notYetCommand } from './not-yet.ts'

const absent: Readonly<Record<string, string>> = {
  quorum: 'a quorum of voters',
  reassign: 'reassignment of replicas',
  elect: 'elections on demand',
  drain: 'draining of brokers',
}

export function clusterCommand(program: Command): void {
  const cluster = program.command('cluster').summary('its state and its brokers; recover lost or damaged metadata').description('Shows the cluster and its brokers, and makes metadata again that is lost or damaged.')
  addNetworkOptions(cluster.command('status').summary('brokers, controller, and what is missing')
    .description('Shows brokers, controller and counts of topics and partitions. Exit code 1 if a partition has no leader, not all of its replicas, or records that are damaged on a disk, or missing since a start.'))
    .action(async (flags: NetworkFlags) => { await withClient(flags, (_client, admin) => status(admin, flags)) })
  clusterBrokersCommand(cluster)
  clusterRecoverCommand(cluster)
  for (const [name, what] of Object.entries(absent)) notYetCommand(cluster, name, what, 'cluster status shows what there is')
}

interface Health {
  readonly topics: number
  readonly partitions: number
  readonly leaderless: number
  readonly underReplicated: number
  /** Partitions without a leader, by name, with why. */
  readonly notServed: readonly { readonly topic: string, readonly partition: number, readonly reason: string }[]
  /** Partitions led, by broker. */
  readonly leaders: ReadonlyMap<number, number>
  /** Replicas held, by broker. */
  readonly replicas: ReadonlyMap<number, number>
}

async function status(admin: Admin, flags: NetworkFlags): Promise<void> {
  const cluster = await admin.describeCluster()
  const listed = await admin.listTopics({ includeInternal: true })
  const described = await admin.describeTopics(listed.map((each) => each.name))
  const health = healthOf(described)
  const [damaged, missing] = await Promise.all([damageOf(admin, described), missingOf(admin, described)])
  const { topics, partitions, leaderless, underReplicated, notServed } = health
  if (flags.output === 'json') {
    const brokers = cluster.brokers.map(({ id, host, port, rack }) => ({
      nodeId: id, host, port, rack, isController: id === cluster.controllerId, leaders: health.leaders.get(id) ?? 0, replicas: health.replicas.get(id) ?? 0,
    }))
    printJson({ clusterId: cluster.clusterId, controllerId: cluster.controllerId, brokers, topics, partitions, leaderless, underReplicated, notServed, damaged, missing })
  } else {
    printStatus(cluster, health, damaged, missing)
  }
  if (leaderless > 0 || underReplicated > 0 || damaged.length > 0 || missing.length > 0) process.exitCode = 1
}

function printStatus(cluster: ClusterDescription, { topics, partitions, leaderless, underReplicated, notServed, leaders, replicas }: Health, damaged: readonly DamagedOffsets[], missing: readonly DamagedOffsets[]): void {
  const unwell = [
    ...leaderless > 0 ? [`${plural(leaderless, 'partition')} not served`] : [], ...underReplicated > 0 ? [`${plural(underReplicated, 'partition')} with replicas that are not in sync`] : [],
    ...damaged.length > 0 ? [plural(damaged.length, 'damaged place')] : [], ...missing.length > 0 ? [`${plural(missing.length, 'log')} with records missing`] : [],
  ]
  print(`cluster ${pc.bold(cluster.clusterId ?? '(without an id)')}: ${plural(cluster.brokers.length, 'broker')}, ${plural(topics, 'topic')}, ${plural(partitions, 'partition')}, ${unwell.length === 0 ? pc.green('all replicas in sync') : pc.red(`not all well: ${unwell.join(', ')}`)}`)
  print('')
  printTable(['broker', 'address', 'rack', 'leads', 'replicas', ''], cluster.brokers.map(({ id, host, port, rack }) => [
    id, `${host.includes(':') ? `[${host}]` : host}:${port}`, rack ?? '-', leaders.get(id) ?? 0, replicas.get(id) ?? 0, id === cluster.controllerId ? 'controller' : '',
  ]), { right: [0, 3, 4] })
  if (leaderless > 0) printWarning(`${plural(leaderless, 'partition has', 'partitions have')} no leader and cannot be used`)
  for (const { topic, partition, reason } of notServed.slice(0, namedMax)) printWarning(`${topic}-${partition} is not served: ${reason}`)
  if (notServed.length > namedMax) printWarning(`${notServed.length - namedMax} more are not served; -o json names them all`)
  for (const each of damaged.slice(0, namedMax)) printWarning(damageLine(each))
  if (damaged.length > namedMax) printWarning(`${damaged.length - namedMax} more places are damaged; -o json names them all`)
  for (const each of missing.slice(0, namedMax)) printWarning(missingLine(each))
  if (missing.length > namedMax) printWarning(`${missing.length - namedMax} more logs miss records; -o json names them all`)
  if (underReplicated > 0) printWarning(`${plural(underReplicated, 'partition has', 'partitions have')} replicas that are not in sync`)
}

/** So many partitions are named in text: the first ones of a broker that is down say enough. */
const namedMax = 10

function healthOf(topics: readonly TopicDescription[]): Health {
  const { leaders, replicas } = countReplicas(topics)
  let partitions = 0
  let leaderless = 0
  let underReplicated = 0
  const notServed: { topic: string, partition: number, reason: string }[] = []
  for (const { topic, partition } of topics.flatMap(({ name, partitions: each }) => each.map((partition) => ({ topic: name, partition })))) {
    partitions += 1
    if (partition.leaderId < 0) {
      leaderless += 1
      notServed.push({ topic, partition: partition.partition, reason: offlineReason(partition) })
    }
    if (partition.inSyncReplicas.filter((id) => !partition.offlineReplicas.includes(id)).length < partition.replicas.length) underReplicated += 1
  }
  return { topics: topics.length, partitions, leaderless, underReplicated, notServed, leaders, replicas }
}
