import { type PartitionId } from '../model/ids.ts'

/**
 * Kafka's checkpoint text: a line with the version, a line with the number of entries, then an entry a line, its fields apart by a space.
 * Files of this form: the offset checkpoints of a data directory and the leader epoch checkpoint of a partition. No bytes at all stand
 * for no entries.
 */
export const checkpointVersion = 0

/** Lines of fields. Throws CheckpointTextError when the text is not whole. */
export function parseCheckpointText(text: string, fieldsPerEntry: number): readonly (readonly string[])[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const version = wholeNumber(lines[0] ?? '')
  if (version !== checkpointVersion) throw new CheckpointTextError(`its version is ${JSON.stringify(lines[0] ?? '')}, not ${checkpointVersion}`)
  const count = wholeNumber(lines[1] ?? '')
  if (count === undefined) throw new CheckpointTextError('its second line is no number of entries')
  if (lines.length - 2 !== count) throw new CheckpointTextError(`it announces ${count} entries and has ${lines.length - 2}`)
  return lines.slice(2).map((line, index) => {
    const fields = line.trim().split(/\s+/)
    if (fields.length !== fieldsPerEntry) throw new CheckpointTextError(`entry ${index + 1} has ${fields.length} fields, not ${fieldsPerEntry}`)
    return fields
  })
}

/** A checkpoint in Kafka's text format, version 0: a line for each entry, its fields separated by spaces. */
export function formatCheckpointText(entries: readonly (readonly (string | number)[])[]): string {
  let text = `${checkpointVersion}\n${entries.length}\n`
  for (const fields of entries) text += `${fields.join(' ')}\n`
  return text
}

/** The text is not a checkpoint, or was cut. What it held is not known. */
export class CheckpointTextError extends Error {
  override readonly name = 'CheckpointTextError'
}

/** A whole number from 0 to 2^53 - 1, or undefined. */
export function wholeNumber(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/** A number for each partition, by `topic` and `partition`: what an offset checkpoint holds. */
export type PartitionOffsets = Map<string, number>

/** The key of a partition in PartitionOffsets: its directory's name. */
export function partitionName(id: Pick<PartitionId, 'topic' | 'partition'>): string {
  return `${id.topic}-${id.partition}`
}

/** Entries `topic partition offset`. Throws CheckpointTextError. */
export function parsePartitionOffsets(text: string): PartitionOffsets {
  const offsets: PartitionOffsets = new Map()
  for (const [topic, partition, offset] of parseCheckpointText(text, 3)) {
    const index = wholeNumber(partition!)
    const value = wholeNumber(offset!)
    if (index === undefined || value === undefined) throw new CheckpointTextError(`no partition and offset in ${topic} ${partition} ${offset}`)
    offsets.set(`${topic}-${index}`, value)
  }
  return offsets
}

/** A checkpoint of offsets by partition directory (`TOPIC-PARTITION`), as Kafka's `recovery-point-offset-checkpoint` and its like. */
export function formatPartitionOffsets(offsets: PartitionOffsets): string {
  return formatCheckpointText([...offsets].map(([name, offset]) => {
    const dash = name.lastIndexOf('-')
    return [name.slice(0, dash), name.slice(dash + 1), offset]
  }))
}
