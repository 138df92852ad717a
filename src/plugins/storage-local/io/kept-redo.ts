import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { entryHeaderBytes, groupHeaderBytes, groupsIn, RedoGroupBuilder, type RedoEntry } from '../core/redo-group.ts'
import { RedoHole } from '../core/redo-history.ts'
import { readWhole } from './index-file.ts'

const prefix = '.millrace-redo-kept-'

/**
 * What the redo log had of partitions whose directories do not say for sure of which topic they are, a file for each: one group, as in the redo log. It outlives the redo log, until a
 * start knows which directory it is for.
 */
export class KeptRedo {
  private readonly files: FileSystem
  private readonly directory: string

  constructor(files: FileSystem, directory: string) {
    this.files = files
    this.directory = directory
  }

  /** By keys of plans. Throws RedoHole when one is damaged: it may be all that is left of what was acknowledged. */
  read(): Map<string, RedoEntry[]> {
    const kept = new Map<string, RedoEntry[]>()
    for (const name of this.files.list(this.directory)) {
      if (!name.startsWith(prefix) || name.endsWith('.tmp')) continue
      const [group, other] = groupsIn(readWhole(this.files, `${this.directory}/${name}`) ?? new Uint8Array(0))
      if (group === undefined || other !== undefined) throw new RedoHole(`${name} beside it is damaged`)
      kept.set(name.slice(prefix.length), [...group.entries])
    }
    return kept
  }

  /** Durable when it returns. */
  keep(key: string, entries: readonly RedoEntry[], directoryId: Uint8Array): void {
    const path = this.path(key)
    const file = this.files.open(`${path}.tmp`, 'ensure')
    try {
      file.truncate(0)
      file.write([groupOf(entries, directoryId)], 0)
      file.syncNow()
    } finally {
      file.close()
    }
    this.files.rename(`${path}.tmp`, path)
    this.files.syncDirectory(this.directory)
  }

  /** Durable when it returns. */
  drop(keys: readonly string[]): void {
    if (keys.length === 0) return
    for (const key of keys) this.files.remove(this.path(key))
    this.files.syncDirectory(this.directory)
  }

  private path(key: string): string { return `${this.directory}/${prefix}${key}` }
}

function groupOf(entries: readonly RedoEntry[], directoryId: Uint8Array): Uint8Array {
  const group = new RedoGroupBuilder(directoryId, entries.reduce((sum, { bytes }) => sum + entryHeaderBytes + bytes.length, groupHeaderBytes))
  for (const { kind, topicId, partition, bytes, offset, segmentBase, position } of entries) {
    if (kind === 'batch') group.addBatch(topicId, partition, { bytes, at: 0, length: bytes.length, logEnd: offset, segmentBase, position })
    else group.addMark(kind, topicId, partition, offset)
  }
  return group.seal({ generation: 0, sequence: 1, run: 0, covered: 0, firstNeeded: 1 })
}
