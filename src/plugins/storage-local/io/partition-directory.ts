import { type Uuid } from '../../../kernel/model/ids.ts'
import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { formatPartitionMetadata } from '../core/partition-metadata.ts'
import { segmentFileName } from '../core/segment-name.ts'

/** A directory that is being made, and the name that it has by now. */
export interface Making {
  path: string
}

/**
 * Makes the directory of a new, empty log. It comes into being as `making.path`, under a name that the next start removes, so that a crash leaves nothing half
 * made, and gets the name `directory` in `parent` when all of it is on the disk. Durable when it returns.
 */
export function makePartitionDirectory(files: FileSystem, parent: string, making: Making, directory: string, topicId: Uuid): void {
  files.makeDirectory(making.path)
  const metadata = files.open(`${making.path}/partition.metadata`, 'create')
  try {
    metadata.write([new TextEncoder().encode(formatPartitionMetadata(topicId))], 0)
    metadata.syncNow()
  } finally {
    metadata.close()
  }
  files.open(`${making.path}/${segmentFileName(0, '.log')}`, 'create').close()
  files.syncDirectory(making.path)
  files.rename(making.path, directory)
  making.path = directory
  files.syncDirectory(parent)
}
