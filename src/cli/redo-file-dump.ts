import pc from 'picocolors'
import { uuidFromBytes } from '../base/uuid.ts'
import { groupsIn, type RedoEntry, type RedoGroup } from '../plugins/storage-local/index.ts'
import { print, printJson, type OutputFormat } from './output.ts'

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
