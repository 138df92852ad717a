import { basename, join } from 'node:path'
import { type Command } from 'commander'
import pc from 'picocolors'
import { formatBytes } from '../../base/format-quantity.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { codecName } from '../../kernel/record/compression-codec.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { NodeFileSystem } from '../../platform/node-file-system.ts'
import { nativeCompression } from '../native-compression.ts'
import { LogFileReader, type PlacedBatch } from '../log-file-reader.ts'
import { printIndexFile } from '../index-file-dump.ts'
import { outputOption } from '../network-options.ts'
import { wholeNumber } from '../option-values.ts'
import { errorLine, plural, print, printJson, printWarning, UsageError, type OutputFormat } from '../output.ts'
import { redoHoleIn } from '../redo-file-dump.ts'
import { shownTime } from '../shown.ts'

interface Flags {
  readonly output: OutputFormat
  readonly records?: boolean
  readonly max?: number
}

export function logCommand(program: Command): void {
  const log = program.command('log').summary('look into data files').description('Looks into the files of a data directory. Reads only; the broker may run.')
  log.command('inspect').summary('print what a file holds').argument('<path>', 'a .log, .index, .timeindex, .sum, .snapshot or .redo file, a checkpoint, or the directory of a partition or of the redo log')
    .description('Prints a file of a data directory: batches of a .log with their checks, entries of an index, checksums of a .sum compared with the .log beside it, producers of a .snapshot, groups of a .redo.')
    .option('--records', 'the records of each batch too')
    .option('--max <n>', 'stop after so many batches, entries or groups of each file', wholeNumber('--max', 1))
    .addOption(outputOption('text, or json: one object a line'))
    .addHelpText('after', `
Exit code 1 when a batch has a wrong checksum, or is not what the .sum of its segment says, bytes follow the last whole batch, or a redo log lacks a group that a start would need.

Examples
  millrace log inspect data/flights-0
  millrace log inspect data/flights-0/00000000000000000000.log --records --max 2
  millrace log inspect data/flights-0/00000000000000000000.sum -o json
  millrace log inspect data/__millrace_redo`)
    .action((path: string, flags: Flags) => { inspect(path, flags) })
}

function inspect(path: string, flags: Flags): void {
  const files = new NodeFileSystem()
  const stat = files.stat(path)
  if (stat === undefined) throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'inspect', path })
  if (stat.kind === 'other') throw new MillraceError('MR_FILE_FAILED', { operation: 'inspect', path, reason: 'it is no regular file; name a file of a data directory, or one of its directories' })
  const paths = stat.kind === 'directory'
    ? files.list(path).filter((name) => /\.(log|index|timeindex|sum|snapshot|redo)$/.test(name)).map((name) => join(path, name))
    : [path]
  if (paths.length === 0) throw new UsageError(`${path} holds no .log, .index, .timeindex, .sum, .snapshot or .redo; name the directory of a partition, such as data/topic-0, or of a redo log`)
  for (const each of paths) {
    if (paths.length > 1 && flags.output === 'text') print(pc.bold(basename(each)))
    if (each.endsWith('.log')) inspectLog(files, each, flags)
    else printIndexFile(files, each, flags.output, flags.max ?? Infinity)
  }
  if (stat.kind === 'directory') checkRedo(files, path, paths)
}

/** The files of a redo log say only together whether something is lost. */
function checkRedo(files: FileSystem, path: string, paths: readonly string[]): void {
  const hole = redoHoleIn(files, paths.filter((each) => each.endsWith('.redo')))
  if (hole === undefined) return
  process.stderr.write(`${errorLine('MR_LOG_REDO_CORRUPT', `${path}: ${hole}; where a broker writes here, look again`)}\n`)
  process.exitCode = 1
}

function inspectLog(files: FileSystem, path: string, flags: Flags): void {
  const file = files.open(path, 'read')
  try {
    const reader = new LogFileReader(file)
    const left = { batches: flags.max ?? Infinity }
    let wrong = 0
    for (const placed of reader.batches()) {
      if (left.batches === 0) return
      left.batches -= 1
      const valid = placed.batch.crcValid()
      if (!valid) wrong += 1
      if (flags.output === 'json') printJson(batchAsJson(placed, valid, flags.records === true && valid))
      else printBatch(placed, valid, flags.records === true && valid)
    }
    const extraBytes = file.size() - reader.tail
    if (extraBytes > 0) printWarning(`${path}: ${extraBytes} bytes from position ${reader.tail} on are no whole batch (a torn tail, or damage)`)
    if (wrong > 0) process.stderr.write(`${errorLine('MR_RECORD_CORRUPT', `${path}: wrong checksum in ${plural(wrong, 'batch', 'batches')}`)}\n`)
    if (extraBytes > 0 || wrong > 0) process.exitCode = 1
  } finally {
    file.close()
  }
}

function printBatch({ position, batch }: PlacedBatch, valid: boolean, withRecords: boolean): void {
  const kind = [batch.isControl ? 'control' : '', batch.isTransactional ? 'transactional' : '', batch.isLogAppendTime ? 'append time' : ''].filter((each) => each !== '')
  const producer = batch.producerId < 0 ? '' : `  producer ${batch.producerId}/${batch.producerEpoch} sequence ${batch.baseSequence}`
  print(`${String(batch.baseOffset).padStart(12)} – ${String(batch.lastOffset).padEnd(12)} at ${String(position).padEnd(11)} ${formatBytes(batch.sizeBytes).padStart(9)}  ${String(batch.recordsCount).padStart(6)} records  ${codecName(batch.codec).padEnd(6)}  ${shownTime(batch.maxTimestamp)}  epoch ${batch.leaderEpoch}${producer}${kind.length > 0 ? `  ${kind.join(', ')}` : ''}  ${valid ? pc.green('crc ok') : pc.red('crc WRONG')}`)
  if (!withRecords) return
  for (const record of batch.records(nativeCompression())) {
    const headers = record.headers.map((header) => `${header.key}=${shownText(header.value)}`).join(' ')
    print(`             ${record.offset}  ${shownTime(record.timestamp)}  ${shownText(record.key)} → ${shownText(record.value)}${headers === '' ? '' : `  {${headers}}`}`)
  }
}

function batchAsJson({ position, batch }: PlacedBatch, valid: boolean, withRecords: boolean): object {
  return {
    position, baseOffset: batch.baseOffset, lastOffset: batch.lastOffset, bytes: batch.sizeBytes, records: batch.recordsCount,
    codec: codecName(batch.codec), maxTimestamp: batch.maxTimestamp, timestampType: batch.isLogAppendTime ? 'LogAppendTime' : 'CreateTime',
    leaderEpoch: batch.leaderEpoch, producerId: batch.producerId, producerEpoch: batch.producerEpoch, baseSequence: batch.baseSequence,
    transactional: batch.isTransactional, control: batch.isControl, crcValid: valid,
    ...withRecords ? { contents: [...batch.records(nativeCompression())].map(({ offset, timestamp, key, value, headers }) => ({ offset, timestamp, key, value, headers })) } : {},
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Text where it is text, else base64; cut for the eye. */
function shownText(bytes: Uint8Array | null): string {
  if (bytes === null) return pc.dim('null')
  try {
    const text = JSON.stringify(decoder.decode(bytes))
    return text.length > 120 ? `${text.slice(0, 120)}…` : text
  } catch {
    return `base64:${Buffer.from(bytes.subarray(0, 90)).toString('base64')}${bytes.length > 90 ? '…' : ''}`
  }
}
