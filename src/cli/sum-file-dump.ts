import pc from 'picocolors'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { reportSums, type SumEntry, type SumsSummary } from '../plugins/storage-local/index.ts'
import { errorLine, plural, print, printJson, type OutputFormat } from './output.ts'

const hex = (crc: number): string => crc.toString(16).padStart(8, '0')

/** Prints the checksums of a segment: what the file says of all of it, then an entry for each batch. Where the segment lies beside it, each is compared with its batch. */
export function printSums(files: FileSystem, path: string, output: OutputFormat, max: number): void {
  const report = reportSums(files, path)
  if (typeof report === 'string') return failed('MR_FILE_FAILED', `inspect ${path}: ${report}`)
  const { summary } = report
  if (output === 'json') printJson(summaryAsJson(summary))
  else printSummary(summary)
  let [shown, wrong] = [0, 0]
  for (const entry of report.entries()) {
    if (shown++ >= max) break
    if (typeof entry.problem === 'string') wrong++
    if (output === 'json') printJson(entryAsJson(entry))
    else print(`  ${String(entry.offset).padStart(12)}  at ${String(entry.position).padEnd(11)} sum ${hex(entry.sum)}${verdict(entry)}`)
  }
  for (const problem of summary.problems) failed('MR_FILE_FAILED', `inspect ${path}: ${problem}`)
  if (wrong > 0) failed('MR_RECORD_CORRUPT', `${path}: ${plural(wrong, 'batch does', 'batches do')} not match; where a broker writes here, look again`)
}

function failed(code: string, message: string): void {
  process.stderr.write(`${errorLine(code, message)}\n`)
  process.exitCode = 1
}

function verdict({ problem }: SumEntry): string {
  if (problem === undefined) return ''
  return problem === null ? `  ${pc.green('matches')}` : `  ${pc.red('DOES NOT MATCH')}: ${problem}`
}

function printSummary({ topicId, partition, baseOffset, entries, seal, segmentBytes, uncoveredBytes }: SumsSummary): void {
  print(`  topic ${topicId}  partition ${partition}  segment ${baseOffset}  ${plural(entries, 'entry', 'entries')}`)
  if (seal === undefined) print('  not sealed: the segment was not closed, nor its broker stopped in order since it was last appended to')
  else {
    const { kind, sizeBytes, endOffset, indexCrc, timeIndexCrc } = seal
    print(`  sealed, ${kind === 'closed' ? 'complete' : 'at a stop'}: ${plural(sizeBytes, 'byte')} up to offset ${endOffset}  index ${hex(indexCrc)}  timeindex ${hex(timeIndexCrc)}`)
  }
  if (segmentBytes === undefined) print(pc.dim('  the segment is not beside it: no batch is looked at'))
  else if (uncoveredBytes !== undefined && uncoveredBytes > 0) print(pc.dim(`  ${plural(uncoveredBytes, 'byte')} at the end of the segment have no entry yet`))
}

function summaryAsJson({ seal, ...summary }: SumsSummary): object {
  const sealed = seal === undefined ? null : { kind: seal.kind, sizeBytes: seal.sizeBytes, endOffset: seal.endOffset, indexCrc: seal.indexCrc, timeIndexCrc: seal.timeIndexCrc }
  return { kind: 'segment', ...summary, segmentBytes: summary.segmentBytes ?? null, uncoveredBytes: summary.uncoveredBytes ?? null, sealed }
}

function entryAsJson({ offset, position, sum, problem }: SumEntry): object {
  return { kind: 'entry', offset, position, sum, matches: problem === undefined ? null : problem === null, problem: problem ?? null }
}
