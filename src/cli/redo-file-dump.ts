import pc from 'picocolors'
import { uuidFromBytes } from '../base/uuid.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { cutOffFile, groupsIn, missingFile, orderGroups, RedoHole, type RedoEntry, type RedoGroup } from '../plugins/storage-local/index.ts'
import { print, printJson, type OutputFormat } from './output.ts'
import { wholeFile } from './whole-file.ts'

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const describe = ({ kind, offset, topicId, partition, segmentBase, position, bytes }: RedoEntry) => ({
  kind, topicId: uuidFromBytes(topicId), partition, offset, ...(kind === 'batch' ? { segmentBase, position, bytes: bytes.length } : {}),
})

const groupOf = ({ generation, sequence, covered, firstNeeded, entries }: RedoGroup) =>
  ({ sequence, generation, covered, firstNeeded, entries: entries.map(describe) })

/** Prints the groups of a file of the redo log that are whole, each with its entries. A file that is used again still holds older ones at its end. */
export function printRedo(bytes: Uint8Array, output: OutputFormat, max: number): void {
  let count = 0
  for (const group of groupsIn(bytes)) {
    if (count++ >= max) return
    const shown = groupOf(group)
    if (output === 'json') {
      printJson(shown)
      continue
    }
    print(`  group ${shown.sequence}  generation ${shown.generation}  on the disk before it ${shown.covered}  needed from ${shown.firstNeeded}`)
    for (const { kind, topicId, partition, offset, ...place } of shown.entries) {
      const where = place.bytes === undefined ? '' : `  ${place.bytes} bytes at ${place.position} of segment ${place.segmentBase}`
      print(`    ${kind.padEnd(8)} ${topicId}-${partition}  offset ${offset}${where}`)
    }
  }
  if (count === 0 && output === 'text') print(pc.dim('  (no groups)'))
}

const readsMax = 3

/**
 * What is lost of a redo log, as a start after a crash would judge it; undefined when nothing is. A broker that writes meanwhile may have used a file
 * again between two reads, so a hole counts when each of a few reads finds one.
 */
export function redoHoleIn(files: FileSystem, paths: readonly string[]): string | undefined {
  for (let reads = 1; ; reads++) {
    try {
      orderGroups(paths.flatMap((path) => [...groupsIn(wholeFile(files, path))]))
      const missing = missingFile(paths.map(nameOf))
      if (missing !== undefined) return `the file ${missing} is missing`
      const cutOff = cutOffFile(new Map(paths.map((path) => [nameOf(path), files.stat(path)?.bytes ?? 0])))
      return cutOff === undefined ? undefined : `the file ${cutOff} was cut off`
    } catch (error) {
      if (!(error instanceof RedoHole)) throw error
      if (reads === readsMax) return error.message
    }
  }
}
