import { type KeyValueStore } from '../../../src/kernel/ports/key-value-store.ts'
import { withRecovery, type RecoveryReport } from '../../../src/broker/recovery/recover-metadata.ts'
import { LogKeyValueEngine } from '../../../src/testkit/world/log-key-value-engine.ts'
import { MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../src/testkit/world/seeded-random.ts'
import { startController } from '../plugins/cluster-metadata/controller-bench.ts'
import { clusterId } from '../plugins/cluster-metadata/core/metadata-fixtures.ts'

/** Where the metadata is; the data directory is `/data`. */
export const metadataPath = '/meta'
const encoder = new TextEncoder()

/** A file with its names, durably. */
export function put(files: MemoryFileSystem, name: string, text: string): void {
  files.makeDirectory(name.slice(0, name.lastIndexOf('/')))
  const file = files.open(name, 'ensure')
  file.write([encoder.encode(text)], 0)
  file.syncNow()
  file.close()
  for (let at = name.lastIndexOf('/'); at >= 0; at = at === 0 ? -1 : name.lastIndexOf('/', at - 1)) files.syncDirectory(name.slice(0, Math.max(1, at)))
}

/** A partition as a broker leaves it. */
export function putPartition(files: MemoryFileSystem, directory: string, topicId: string, options: { readonly records?: string, readonly epoch?: number } = {}): void {
  put(files, `${directory}/partition.metadata`, `version: 0\ntopic_id: ${topicId}`)
  put(files, `${directory}/00000000000000000000.log`, options.records ?? 'records')
  if (options.epoch !== undefined) put(files, `${directory}/leader-epoch-checkpoint`, `0\n1\n${options.epoch} 0\n`)
}

export interface Made {
  readonly files: MemoryFileSystem
  readonly ids: ReadonlyMap<string, string>
}

/** Topics created one by one, `snapshotEntries` a snapshot, each with the directories of its two partitions, whose logs know `epoch`; `orders` has a setting of its own. */
export async function made(names: readonly string[], snapshotEntries = 1000, epoch = 0): Promise<Made> {
  const files = new MemoryFileSystem()
  const { controller, stop } = await startController(new LogKeyValueEngine(files), { files, snapshotEntries })
  await controller.registerBroker({ nodeId: 1, incarnationId: 'B00000000000000000000A', endpoints: [], rack: undefined, directoryIds: [] })
  const ids = new Map<string, string>()
  for (const name of names) {
    const configs = new Map(name === 'orders' ? [['retention.ms', '1234']] : [])
    const [topic] = await controller.createTopics([{ name, partitions: 2, replicationFactor: 1, assignment: undefined, configs }], false)
    ids.set(name, topic!.id)
    for (let partition = 0; partition < 2; partition++) putPartition(files, `/data/${name}-${partition}`, topic!.id, { epoch })
  }
  await stop()
  put(files, '/data/meta.properties', `version=1\ncluster.id=${clusterId}\nnode.id=1\n`)
  return { files, ids }
}

export const options = { dataDirectories: ['/data'], path: metadataPath, nodeId: 1 }
/** Another seed for each process: what it draws is its own. */
export const worldOn = (files: MemoryFileSystem, seed = 1) => ({ engine: new LogKeyValueEngine(files), files, random: new SeededRandom(seed) })

/** A whole recovery. */
export async function recover(files: MemoryFileSystem, seed = 1): Promise<RecoveryReport> {
  return await withRecovery(worldOn(files, seed), options, async ({ report, carryOut }) => {
    await carryOut()
    return report
  })
}

export async function edit(files: MemoryFileSystem, change: (store: KeyValueStore) => Promise<void>): Promise<void> {
  const store = await new LogKeyValueEngine(files).open(`${metadataPath}/log`)
  await change(store)
  await store.close()
}

export const remove = (files: MemoryFileSystem, ...keys: readonly Uint8Array[]): Promise<void> =>
  edit(files, (store) => store.write(keys.map((key) => ({ key, value: undefined })), { sync: true }))

/** A bit of the newest snapshot changes. */
export const damageSnapshot = (files: MemoryFileSystem): Promise<void> => edit(files, async (store) => {
  const pieces = await store.range({ from: Uint8Array.of(0x73), to: Uint8Array.of(0x74) })
  const [key, value] = pieces.at(-1)!
  value[5]! ^= 16
  await store.write([{ key, value }], { sync: true })
})

export interface FoundTopics {
  readonly topics: readonly {
    readonly name: string
    readonly id: string
    readonly partitions: number
    readonly retention: string | undefined
    readonly epochs: readonly number[]
    readonly leaders: readonly number[]
  }[]
  readonly clusterId: string
  readonly nextProducerId: number
}

/** What a broker that is started has. Rejects as its start does. */
export async function topicsOf(files: MemoryFileSystem, { foundPartition }: { readonly foundPartition?: string } = {}): Promise<FoundTopics> {
  const running = await startController(new LogKeyValueEngine(files), { files, seed: 2, ...foundPartition === undefined ? {} : { foundPartition } })
  const image = running.metadata.image()
  const topics = [...image.topics.values()].map((topic) => ({
    name: topic.name, id: topic.id, partitions: topic.partitions.length, retention: topic.overrides.get('retention.ms'), epochs: topic.partitions.map(({ leaderEpoch }) => leaderEpoch),
    leaders: topic.partitions.map(({ leader }) => leader),
  }))
  await running.controller.registerBroker({ nodeId: 1, incarnationId: 'B00000000000000000001A', endpoints: [], rack: undefined, directoryIds: [] })
  const { first } = await running.controller.allocateProducerIds(1, running.metadata.image().brokers.get(1)!.epoch)
  await running.stop()
  return { topics: topics.sort((one, other) => (one.name < other.name ? -1 : 1)), clusterId: image.clusterId, nextProducerId: first }
}
