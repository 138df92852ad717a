import { uuidFromBytes } from '../base/uuid.ts'
import { isMillraceError } from '../kernel/errors/index.ts'
import { type Uuid } from '../kernel/model/ids.ts'
import { type Random } from '../kernel/ports/clock.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { readText } from './config-file.ts'

export interface FoundCluster {
  readonly clusterId: Uuid
  /** No data directory says which cluster it belongs to. */
  readonly drawn: boolean
  /** The directory of a partition that is there already. */
  readonly partition: string | undefined
}

/**
 * The cluster that the data directories belong to, as the first that says so has it; a new one where none does. Throws the error of the file where
 * there are partitions and the only word on whose they are cannot be read.
 */
export function findCluster(files: FileSystem, random: Random, dataDirectories: readonly string[]): FoundCluster {
  let unreadable: unknown
  const found = first(dataDirectories, (directory) => clusterIdIn(files, directory), (error) => { unreadable ??= error })
  const partition = first(dataDirectories, (directory) => partitionIn(files, directory))
  // It is there, and says whose the partitions are: nobody is told that it is lost.
  if (found === undefined && partition !== undefined && unreadable !== undefined) throw unreadable as Error
  return { clusterId: found ?? drawnClusterId(random), drawn: found === undefined, partition }
}

export const drawnClusterId = (random: Random): Uuid => uuidFromBytes(random.bytes(16))

function clusterIdIn(files: FileSystem, directory: string): Uuid | undefined {
  const path = `${directory}/meta.properties`
  if (files.stat(path)?.kind !== 'file') return undefined
  return /^cluster\.id\s*[=:]\s*(\S+)\s*$/m.exec(readText(files, path))?.[1]
}

/** In service, and of a topic: what was set aside or deleted does not count, nor does Kafka's own metadata. */
const partitionName = /^(?!__cluster_metadata-)\S+-\d+$/

function partitionIn(files: FileSystem, directory: string): string | undefined {
  if (files.stat(directory)?.kind !== 'directory') return undefined
  return files.list(directory)
    .filter((name) => partitionName.test(name))
    .map((name) => `${directory}/${name}`)
    .find((path) => files.stat(`${path}/partition.metadata`)?.kind === 'file')
}

/** A directory that cannot be read says nothing here; whoever takes it into use tells why. */
function first<T>(directories: readonly string[], look: (directory: string) => T | undefined, onError: (error: unknown) => void = () => undefined): T | undefined {
  for (const directory of directories) {
    try {
      const found = look(directory)
      if (found !== undefined) return found
    } catch (error) {
      if (!isMillraceError(error)) throw error
      onError(error)
    }
  }
  return undefined
}
