import pc from 'picocolors'
import { crc32c } from '../base/crc32c.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { printRedo } from './redo-file-dump.ts'
import { errorLine, plural, print, printJson, UsageError, type OutputFormat } from './output.ts'
import { shownTime } from './shown.ts'
import { printSums } from './sum-file-dump.ts'
import { wholeFile } from './whole-file.ts'

/** Prints an index, checksums, a producer snapshot, or a text checkpoint; layouts as Kafka writes them. */
export function printIndexFile(files: FileSystem, path: string, output: OutputFormat, max: number): void {
  const bytes = wholeFile(files, path)
  const baseOffset = Number(/(\d{20})\.\w+$/.exec(path)?.[1] ?? 0)
  if (path.endsWith('.timeindex')) {
    const entries = [...timeEntries(bytes, baseOffset)]
    printEntries(entries, output, max, (each) => `${shownTime(each.timestamp)}  offset ${each.offset}`)
    tellImpossible(path, entries.map(({ timestamp, offset }) => [timestamp, offset - baseOffset]))
  } else if (path.endsWith('.index')) {
    const entries = [...offsetEntries(bytes, baseOffset)]
    printEntries(entries, output, max, (each) => `offset ${String(each.offset).padEnd(12)} at ${each.position}`)
    tellImpossible(path, entries.map(({ offset, position }) => [offset - baseOffset, position]))
  } else if (path.endsWith('.sum')) printSums(files, path, output, max)
  else if (path.endsWith('.redo')) printRedo(bytes, output, max)
  else if (path.endsWith('.snapshot')) printSnapshot(path, bytes, output, max)
  else if (/checkpoint$|\.metadata$|\.properties$/.test(path)) printText(new TextDecoder().decode(bytes), output)
  else throw new UsageError(`${path}: log inspect reads .log, .index, .timeindex, .sum, .snapshot, .redo and checkpoint files`)
}

function printText(text: string, output: OutputFormat): void {
  if (output === 'json') printJson({ text })
  else print(text)
}

function printEntries<E extends object>(entries: Iterable<E>, output: OutputFormat, max: number, shown: (entry: E) => string): void {
  let count = 0
  for (const entry of entries) {
    if (count >= max) return
    count += 1
    if (output === 'json') printJson(entry)
    else print(`  ${shown(entry)}`)
  }
  if (count === 0 && output === 'text') print(pc.dim('  (no entries)'))
}

/** Entries of an index rise in both of their numbers; zeros are room that Kafka has made for more. */
function tellImpossible(path: string, entries: readonly (readonly [first: number, second: number])[]): void {
  let [last, lastSecond] = [-1, -1]
  const impossible = entries.flatMap(([first, second], index) => {
    if (first === 0 && second === 0) return []
    if (first < 0 || second < 0 || first > Number.MAX_SAFE_INTEGER || first < last || second < lastSecond) return [index]
    ;[last, lastSecond] = [first, second]
    return []
  })
  if (impossible.length === 0) return
  process.stderr.write(`${errorLine('MR_FILE_FAILED', `inspect ${path}: ${plural(impossible.length, 'entry', 'entries')} of ${entries.length} cannot be of an index, the first is number ${impossible[0]! + 1}: numbers are negative, or fall; the broker makes it anew from its segment where it is removed while the broker is stopped`)}\n`)
  process.exitCode = 1
}

function* offsetEntries(bytes: Uint8Array, baseOffset: number): IterableIterator<{ offset: number, position: number }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at + 8 <= bytes.length; at += 8) yield { offset: baseOffset + view.getInt32(at), position: view.getInt32(at + 4) }
}

function* timeEntries(bytes: Uint8Array, baseOffset: number): IterableIterator<{ timestamp: number, offset: number }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at + 12 <= bytes.length; at += 12) yield { timestamp: Number(view.getBigInt64(at)), offset: baseOffset + view.getInt32(at + 8) }
}

function* snapshotEntries(view: DataView): IterableIterator<{ producerId: number, epoch: number, lastSequence: number, lastOffset: number, timestamp: number }> {
  for (let at = 10; at + 46 <= view.byteLength; at += 46) {
    yield {
      producerId: Number(view.getBigInt64(at)), epoch: view.getInt16(at + 8), lastSequence: view.getInt32(at + 10),
      lastOffset: Number(view.getBigInt64(at + 14)), timestamp: Number(view.getBigInt64(at + 26)),
    }
  }
}

function printSnapshot(path: string, bytes: Uint8Array, output: OutputFormat, max: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length >= 10 && view.getInt16(0) === 1 && view.getUint32(2) === crc32c(bytes, 6)
  if (!whole) {
    process.stderr.write(`${errorLine('MR_FILE_FAILED', `inspect ${path}: not a whole producer snapshot (length, version or checksum)`)}\n`)
    process.exitCode = 1
    return
  }
  printEntries(snapshotEntries(view), output, max, (each) => `producer ${each.producerId}/${each.epoch}  last sequence ${each.lastSequence}  last offset ${each.lastOffset}  ${shownTime(each.timestamp)}`)
}
