import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { kafkaClassPath } from './peers.ts'
import { briefJvmOptions, runProgram } from './process.ts'

export interface DumpReport {
  /** Files that were read, by suffix. */
  readonly files: Readonly<Record<string, number>>
  readonly batches: number
  /** What the tool complains about, a line each; empty for a good folder. */
  readonly complaints: readonly string[]
}

/** Names of Kafka's own files start with 20 digits, so that LevelDB's `.log` files are not taken for segments. */
const kafkaFile = /^\d{20}(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)$/

function findFiles (dir: string, skip: RegExp): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && kafkaFile.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => !skip.test(file))
    .sort()
}

const complaint = /mismatch|not found|out of order|non-consecutive|isvalid: false|invalid bytes|corrupt|exception|error|ignoring|invalid|fail/i

/**
 * The tool's output without what it says of a good file. It takes the offset before a file's first record for -1, so
 * that every file which does not begin at offset 0 is said to have a gap there; that line alone is allowed, with its
 * heading, where its offset is the one in the file's name.
 */
export function complaintsIn (output: string, files: readonly string[], deepIteration: boolean, compacted = /(?!)/): string[] {
  const baseOffsets = new Set(files.map(file => Number(basename(file).slice(0, 20))))
  const lines = output.split('\n').map(line => line.trim()).filter(line => line !== '')
  const complaints: string[] = []
  let heading: string | undefined
  let file = ''
  for (const line of lines) {
    if (line.startsWith('Dumping ')) {
      file = line.slice('Dumping '.length)
      continue
    }
    const gap = /^(-?\d+) is followed by (\d+)$/.exec(line)
    if (gap && gap[1] === '-1' && baseOffsets.has(Number(gap[2])) && deepIteration) continue
    if (gap && compacted.test(heading ?? '') && Number(gap[2]) > Number(gap[1])) continue
    if (gap) {
      complaints.push(`${heading ?? ''} ${line}`.trim())
    } else if (/^non-consecutive offsets in/i.test(line)) {
      heading = line
    } else if (complaint.test(line) && !/isvalid: true/.test(line)) {
      complaints.push(/^baseOffset: /.test(line) ? `${file}: ${line}` : line)
    }
  }
  return complaints
}

const RECORD_LINE = '|'.charCodeAt(0)

/** The tool prints a line a record, which may be gigabytes; only batches and what else it says are kept. */
async function dump (args: readonly string[], files: readonly string[], compacted?: RegExp): Promise<{ batches: number; complaints: string[] }> {
  if (files.length === 0) return { batches: 0, complaints: [] }
  let batches = 0
  const other: string[] = []
  const onLine = (bytes: Buffer): void => {
    if (bytes[0] === RECORD_LINE) return
    const line = bytes.toString()
    if (line.startsWith('baseOffset: ')) batches++
    if (complaint.test(line) || /^Dumping | is followed by /.test(line)) other.push(line)
  }
  try {
    // Gaps are told on stderr, below the name of their file.
    const { stderr } = await runProgram('java', [...briefJvmOptions, '-cp', kafkaClassPath()!,
      'org.apache.kafka.tools.DumpLogSegments', ...args, '--files', files.join(',')], { timeoutMs: 900_000, stderrMax: Infinity, onLine })
    return { batches, complaints: complaintsIn([...other, stderr].join('\n'), files, args.includes('--deep-iteration'), compacted) }
  } catch (error) {
    return { batches, complaints: [`DumpLogSegments ${args.join(' ')}: ${(error as Error).message}`] }
  }
}

export interface DumpOptions {
  /** Leaves out files by path. */
  skip?: RegExp
  /** Files of compacted topics, by path. */
  compacted?: RegExp
  /**
   * Walks the records of so many bytes of segments, the smallest first; of the others the batches alone, with their
   * checksums. The tool prints a line a record, so that walking all of a large folder takes minutes. No limit by default.
   */
  deepBytesMax?: number
}

/**
 * Reads every segment, index and producer snapshot below `dir` with Kafka 4.4's DumpLogSegments: batches with their
 * records and checksums, indexes against their logs and by their own sanity check.
 */
export async function dumpCheck (dir: string, { skip = /(?!)/, compacted, deepBytesMax = Infinity }: DumpOptions = {}): Promise<DumpReport> {
  if (!kafkaClassPath()) throw new Error('Apache Kafka is not installed: run .ci/install-peers.sh')
  const files = findFiles(dir, skip)
  const suffixOf = (file: string): string => file.slice(file.lastIndexOf('.'))
  const of = (...suffixes: string[]): string[] => files.filter(file => suffixes.includes(suffixOf(file)))
  const logs = of('.log').map(file => ({ file, bytes: statSync(file).size })).sort((a, b) => a.bytes - b.bytes)
  let left = deepBytesMax
  const isDeep = logs.map(({ bytes }) => (left -= bytes) >= 0)
  const runs = [
    await dump(['--deep-iteration'], logs.filter((_, i) => isDeep[i]).map(({ file }) => file), compacted),
    await dump([], logs.filter((_, i) => !isDeep[i]).map(({ file }) => file)),
    await dump([], of('.index', '.timeindex', '.snapshot', '.txnindex')),
    await dump(['--index-sanity-check'], of('.index', '.timeindex')),
  ]
  const counts: Record<string, number> = {}
  for (const file of files) counts[suffixOf(file)] = (counts[suffixOf(file)] ?? 0) + 1
  return { files: counts, batches: runs[0]!.batches + runs[1]!.batches, complaints: runs.flatMap(({ complaints }) => complaints) }
}

/** `npx tsx test/compat/dump-log-segments.ts DIR [COMPACTED]`: exit 1 with the complaints, if there are any. COMPACTED is a pattern of paths in which offsets may have gaps. */
async function main (): Promise<void> {
  const report = await dumpCheck(process.argv[2] ?? 'data', process.argv[3] === undefined ? {} : { compacted: new RegExp(process.argv[3]) })
  console.log(`${JSON.stringify(report.files)}, ${report.batches} batches, ${report.complaints.length} complaints`)
  for (const line of report.complaints) console.log(`  ${line}`)
  process.exitCode = report.complaints.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
