import { type Command } from 'commander'
import { formatBytes } from '../../base/format-quantity.ts'
import type { Admin, TopicDescription } from '../../client/index.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { describeClusterApi, describeLogDirsApi, kafkaErrorName, kafkaErrors } from '../../wire/index.ts'
import { addNetworkOptions, withClient, type NetworkFlags } from '../network-options.ts'
import { plural, print, printJson, printTable, printWarning } from '../output.ts'

/** What lies in one data directory of a broker. */
interface DirectoryReport {
  readonly path: string
  /** Logs of partitions, and their bytes. Null where the directory is out of service. */
  readonly partitions: number | null
  readonly usedBytes: number | null
  /** Of its disk; null where the broker does not tell. */
  readonly freeBytes: number | null
  readonly totalBytes: number | null
  /** Why it is out of service, as far as the broker tells; null while it serves. */
  readonly problem: string | null
}

interface BrokerReport {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
  readonly isController: boolean
  /** Registered, and not known to be alive. */
  readonly isFenced: boolean
  readonly leaders: number
  readonly replicas: number
  /** Null where the broker does not tell. */
  readonly directories: readonly DirectoryReport[] | null
}

interface KnownBrokers {
  readonly controllerId: number
  readonly brokers: readonly Pick<BrokerReport, 'nodeId' | 'host' | 'port' | 'rack' | 'isFenced'>[]
}

export function clusterBrokersCommand(cluster: Command): void {
  addNetworkOptions(cluster.command('brokers').summary('each broker, what it holds, and what its disks have')
    .description('Shows each broker, also those that are not known to be alive, with the partitions that it leads and holds, and its data directories. Exit code 1 if a broker is not alive or a directory is out of service.'))
    .action(async (flags: NetworkFlags) => { await withClient(flags, (_client, admin) => brokers(admin, flags)) })
}

/** How many partitions each broker leads, and how many replicas it holds. */
export function countReplicas(topics: readonly TopicDescription[]): { readonly leaders: ReadonlyMap<number, number>, readonly replicas: ReadonlyMap<number, number> } {
  const leaders = new Map<number, number>()
  const replicas = new Map<number, number>()
  const more = (counts: Map<number, number>, id: number): void => { counts.set(id, (counts.get(id) ?? 0) + 1) }
  for (const partition of topics.flatMap((topic) => topic.partitions)) {
    if (partition.leaderId >= 0) more(leaders, partition.leaderId)
    for (const id of partition.replicas) more(replicas, id)
  }
  return { leaders, replicas }
}

async function brokers(admin: Admin, flags: NetworkFlags): Promise<void> {
  const known = await knownBrokers(admin)
  const listed = await admin.listTopics({ includeInternal: true })
  const { leaders, replicas } = countReplicas(await admin.describeTopics(listed.map((each) => each.name)))
  const reports = await Promise.all(known.brokers.map(async (broker): Promise<BrokerReport> => ({
    ...broker, isController: broker.nodeId === known.controllerId, leaders: leaders.get(broker.nodeId) ?? 0, replicas: replicas.get(broker.nodeId) ?? 0,
    directories: broker.isFenced ? null : await directoriesOf(admin, broker.nodeId),
  })))
  if (flags.output === 'json') printJson({ brokers: reports })
  else printBrokers(reports)
  if (reports.some(({ isFenced, directories }) => isFenced || directories?.some(({ problem }) => problem !== null) === true)) process.exitCode = 1
}

async function knownBrokers(admin: Admin): Promise<KnownBrokers> {
  try {
    return await admin.ask('anybody', describeClusterApi, () => ({ includeClusterAuthorizedOperations: false, includeFencedBrokers: true }), (response) => ({
      controllerId: response.controllerId,
      brokers: response.brokers.map(({ brokerId, host, port, rack, isFenced }) => ({ nodeId: brokerId, host, port, rack, isFenced })),
    }), { oldest: 2 })
  } catch (error) {
    if (!isMillraceError(error, 'MR_CLIENT_UNSUPPORTED')) throw error
  }
  // Brokers from before that version name those alone that are alive.
  const { controllerId, brokers: alive } = await admin.describeCluster()
  return { controllerId, brokers: alive.map(({ id, host, port, rack }) => ({ nodeId: id, host, port, rack, isFenced: false })) }
}

async function directoriesOf(admin: Admin, nodeId: number): Promise<readonly DirectoryReport[] | null> {
  try {
    return await admin.ask({ nodeId }, describeLogDirsApi, () => ({ topics: null }), ({ results }) => results.map(({ logDir, errorCode, topics, totalBytes, usableBytes }) => {
      const logs = topics.flatMap(({ partitions }) => partitions)
      const isServing = errorCode === kafkaErrors.NONE
      return {
        path: logDir, partitions: isServing ? logs.length : null, usedBytes: isServing ? logs.reduce((sum, { partitionSize }) => sum + partitionSize, 0) : null,
        freeBytes: usableBytes < 0 ? null : usableBytes, totalBytes: totalBytes < 0 ? null : totalBytes, problem: isServing ? null : problemOf(errorCode),
      }
    }), {})
  } catch (error) {
    // It does not know the API, or does not let us ask.
    if (isMillraceError(error) && !error.row.retriable) return null
    throw error
  }
}

const problemOf = (errorCode: number): string =>
  (errorCode === kafkaErrors.KAFKA_STORAGE_ERROR ? 'it is out of service; the log and /healthz of the broker say why' : `the broker tells ${kafkaErrorName(errorCode)} of it`)

function printBrokers(reports: readonly BrokerReport[]): void {
  const rows = reports.flatMap((broker) => {
    const { nodeId, host, port, rack, isController, isFenced, leaders, replicas } = broker
    const own = [nodeId, `${host.includes(':') ? `[${host}]` : host}:${port}`, rack ?? '-', leaders, replicas]
    const note = [...isController ? ['controller'] : [], ...isFenced ? ['not alive'] : []].join(', ')
    const directories = broker.directories?.map(({ path, partitions, usedBytes, freeBytes, problem }) =>
      [path, partitions ?? '-', usedBytes === null ? '-' : formatBytes(usedBytes), freeBytes === null ? '-' : formatBytes(freeBytes), problem === null ? '' : 'out of service']) ?? [['-', '-', '-', '-', '']]
    return directories.map((directory, index) => [...index === 0 ? own : ['', '', '', '', ''], ...directory.slice(0, -1), [index === 0 ? note : '', directory.at(-1)!].filter((each) => each !== '').join(', ')])
  })
  printTable(['broker', 'address', 'rack', 'leads', 'replicas', 'directory', 'logs', 'used', 'free', ''], rows, { right: [0, 3, 4, 6, 7, 8] })
  if (reports.length === 0) print('no broker is known')
  for (const { nodeId, directories } of reports) {
    for (const { path, problem } of directories ?? []) if (problem !== null) printWarning(`broker ${nodeId}, ${path}: ${problem}`)
  }
  const fenced = reports.filter(({ isFenced }) => isFenced)
  if (fenced.length > 0) printWarning(`${plural(fenced.length, 'broker is', 'brokers are')} registered and not known to be alive: ${fenced.map(({ nodeId }) => nodeId).join(', ')}`)
}
