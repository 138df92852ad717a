import { randomUuid } from '../../base/uuid.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { type Random } from '../../kernel/ports/clock.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type KeyValueEngine, type KeyValueStore } from '../../kernel/ports/key-value-store.ts'
import { recoverImage, type RecoveredTopic } from '../../plugins/cluster-metadata/index.ts'
import { readDamagedStore, recoveringPath, recoveryReportName, writeRecoveredStore, type Salvage, type SalvageWorld } from '../../plugins/coordination-single/index.ts'
import { checkNoneMissing, findDirectory, findMetaProperties, findPartitions } from '../../plugins/storage-local/index.ts'
import { readText } from '../config-file.ts'

export interface RecoveryWorld extends SalvageWorld {
  readonly engine: KeyValueEngine
  readonly files: FileSystem
  readonly random: Random
}

export interface RecoveryOptions {
  /** Of the broker, all of them: topics of one that is left out are not seen. */
  readonly dataDirectories: readonly string[]
  /** Ids of data directories that are gone for good. */
  readonly lostDirectories?: readonly string[]
  /** Of the metadata. */
  readonly path: string
  /** Where nothing that is left says which node it is. */
  readonly nodeId: number
}

/** What a recovery found and did. Its shape is that of `millrace cluster recover -o json`. */
export interface RecoveryReport {
  readonly path: string
  readonly clusterId: string
  readonly nodeId: number
  /** Nothing that was acknowledged is missing. */
  readonly isWhole: boolean
  /** The commands that were read go from a snapshot of this index up to that one. */
  readonly snapshotIndex: number
  readonly lastIndex: number
  /** Acknowledged commands that are gone; null: nothing that is left can say. */
  readonly lostCommands: number | null
  readonly topics: readonly RecoveredTopic[]
  readonly replaced: readonly { readonly name: string, readonly topicId: string }[]
  readonly left: readonly { readonly path: string, readonly reason: string }[]
  /** What is not known and was decided, a sentence each. */
  readonly assumed: readonly string[]
  /** Where the old metadata is kept; null when there was none. */
  readonly kept: string | null
}

/** A recovery that has looked at everything and changed nothing yet. */
export interface PreparedRecovery {
  readonly report: RecoveryReport
  /** An earlier run came as far as the last step: only that is left. */
  readonly isResumed: boolean
  /** Makes the new metadata and puts it in place. May be ended at any step, and done again. */
  carryOut(): Promise<void>
}

/**
 * Locks the data directories while `use` runs, so that no broker starts meanwhile. Rejects with MR_LOG_DIRECTORY_LOCKED while one runs, MR_LOG_DIRECTORY_MISSING when
 * one of the broker's is left out: topics would be made again without what is there; MR_CLUSTER_RECOVERY_REFUSED when nothing says which cluster it is, MR_CLUSTER_METADATA_NEWER.
 */
export async function withRecovery<T>(world: RecoveryWorld, options: RecoveryOptions, use: (recovery: PreparedRecovery) => Promise<T>): Promise<T> {
  const locks: KeyValueStore[] = []
  try {
    for (const directory of options.dataDirectories) {
      if (world.files.stat(directory)?.kind !== 'directory') throw refused(options.path, `there is no data directory ${directory}`)
      locks.push(await world.engine.open(`${directory}/.lock`))
    }
    checkNoneMissing(options.dataDirectories.map((directory) => findDirectory(world.files, directory)), [], new Set(options.lostDirectories))
    return await use(await prepare(world, options))
  } finally {
    for (const lock of locks.reverse()) await lock.close()
  }
}

async function prepare(world: RecoveryWorld, options: RecoveryOptions): Promise<PreparedRecovery> {
  const { files } = world
  const { path } = options
  const marked = `${recoveringPath(path)}/${recoveryReportName}`
  if (files.stat(marked) !== undefined) {
    const found = JSON.parse(readText(files, marked)) as RecoveryReport
    // The old metadata may have its new name already.
    const toKeep = keptPath(files, path)
    return { report: { ...found, kept: toKeep ?? found.kept }, isResumed: true, carryOut: () => Promise.resolve(swap(files, path, toKeep)) }
  }
  const left = await readDamagedStore(world, path, `${path}.salvage`)
  const found = options.dataDirectories.flatMap((directory) => findPartitions(files, directory))
  const { clusterId, nodeId } = identityOf(files, options, left)
  const recovered = recoverImage({ ...left, isWhole: left.isWhole && left.last.index > 0 }, found, nodeId, clusterId)
  if (left.last.index === 0 && found.length === 0) throw refused(path, 'neither its log nor a partition directory is left; a broker that is started with an empty directory begins anew')
  const unknownEnd = recovered.ahead === undefined ? left.unknownEnd : `the metadata is an older copy: the log of ${recovered.ahead} knows of a later leader epoch`
  const isWhole = left.isWhole && left.last.index > 0 && recovered.ahead === undefined
  const report: RecoveryReport = {
    path, clusterId, nodeId, isWhole, snapshotIndex: left.snapshotIndex, lastIndex: left.last.index,
    lostCommands: unknownEnd === undefined ? left.knownIndex - left.last.index : null,
    topics: recovered.topics, replaced: recovered.replaced, left: recovered.left, assumed: isWhole ? [] : assumptions(unknownEnd, recovered.nextProducerId), kept: keptPath(files, path),
  }
  const store = {
    nodeId, clusterId, snapshot: recovered.snapshot, directoryId: randomUuid(() => Math.floor(world.random.fraction() * 0x1_0000_0000)),
    index: Math.max(left.knownIndex, left.last.index) + (isWhole ? 1 : indexMargin), term: left.knownTerm + 1,
  }
  return {
    report, isResumed: false,
    carryOut: async () => {
      files.remove(recoveringPath(path))
      await writeRecoveredStore(world, recoveringPath(path), store)
      mark(files, path, report)
      swap(files, path, report.kept)
    },
  }
}

/** Indexes of commands that were lost without a trace are not given again. */
const indexMargin = 1_000_000

/** From here on the new metadata is whole, and takes the place of the old whatever happens. */
function mark(files: FileSystem, path: string, report: RecoveryReport): void {
  const directory = recoveringPath(path)
  const temporary = `${directory}/${recoveryReportName}.tmp`
  const file = files.open(temporary, 'ensure')
  try {
    file.truncate(0)
    file.write([new TextEncoder().encode(JSON.stringify(report))], 0)
    file.syncNow()
  } finally {
    file.close()
  }
  files.rename(temporary, `${directory}/${recoveryReportName}`)
  files.syncDirectory(directory)
  files.syncDirectory(parentOf(path))
}

function swap(files: FileSystem, path: string, kept: string | null): void {
  if (kept !== null) {
    try {
      files.rename(path, kept)
    } catch (error) {
      // A directory that is a mount point cannot be renamed. What is there stays, and no broker waits for the last step.
      files.remove(`${recoveringPath(path)}/${recoveryReportName}`)
      throw error
    }
    files.syncDirectory(parentOf(path))
  }
  files.rename(recoveringPath(path), path)
  files.syncDirectory(parentOf(path))
}

/** The first free name beside what is there; null when nothing is. */
function keptPath(files: FileSystem, path: string): string | null {
  if (files.stat(path) === undefined) return null
  for (let number = 1; ; number++) {
    const name = `${path}.before-recovery.${number}`
    if (files.stat(name) === undefined) return name
  }
}

function identityOf(files: FileSystem, { dataDirectories, path, nodeId: configured }: RecoveryOptions, left: Salvage): { readonly clusterId: string, readonly nodeId: number } {
  const properties = dataDirectories.map((directory) => findMetaProperties(files, directory)).filter((each) => each !== undefined)
  const clusterId = left.clusterId ?? properties.find((each) => each.clusterId !== undefined)?.clusterId
  if (clusterId === undefined) throw refused(path, 'neither the metadata nor a meta.properties in the data directories says which cluster it is; restore a meta.properties')
  const foreign = properties.find((each) => each.clusterId !== undefined && each.clusterId !== clusterId)
  if (foreign !== undefined) throw new MillraceError('MR_CLUSTER_METADATA_FOREIGN', { found: clusterId, expected: foreign.clusterId, lines: `cluster.id=${clusterId}` })
  return { clusterId, nodeId: left.nodeId ?? properties.find((each) => each.nodeId !== undefined)?.nodeId ?? configured }
}

function assumptions(unknownEnd: string | undefined, nextProducerId: number): string[] {
  const assumed = [
    'topics that were made from directories keep all their records (retention.ms=-1, retention.bytes=-1), since what they kept is not known, and have the defaults of the broker in all else',
    'a topic that was deleted after the last command that could be read is there again: delete it again',
    'leader epochs go on well above those that are known',
    `producer ids go on from ${nextProducerId}`,
  ]
  return unknownEnd === undefined ? assumed : [`${unknownEnd}, so that it is not known whether newer commands were acknowledged`, ...assumed]
}

function parentOf(path: string): string {
  const slash = path.replace(/\/+$/, '').lastIndexOf('/')
  return slash < 0 ? '.' : path.slice(0, Math.max(1, slash))
}

const refused = (path: string, reason: string): MillraceError => new MillraceError('MR_CLUSTER_RECOVERY_REFUSED', { path, reason })
