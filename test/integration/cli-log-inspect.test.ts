import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RedoGroupBuilder } from '../../src/plugins/storage-local/core/redo-group.js'
import { topicSettings } from '../../src/testkit/topic-settings.ts'
import { append, makeBatch, newTopicId } from '../../src/testkit/conformance/log-store-subject.ts'
import { ManualTimers } from '../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { bytesOf, makeStore } from '../unit/plugins/storage-local/store-subjects.ts'
import { ensureBuilt } from './built.ts'
import { cli, jsonLines, oneLine } from './cli-run.ts'

let folder = ''
beforeAll(() => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'millrace-inspect-'))
}, 120_000)
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

const inspect = (...args: readonly string[]) => cli(['log', 'inspect', ...args], { cwd: folder })

/** A redo log of these groups, each of which says that all before it were on the disk, and that all from the first on are needed. */
function redoLog(name: string, sequences: readonly number[]): string {
  const builder = new RedoGroupBuilder(new Uint8Array(16), 65_536)
  const groups = sequences.map((sequence) => {
    builder.addMark('barrier', new Uint8Array(16).fill(7), 0, sequence)
    return Buffer.from(builder.seal({ generation: 1, run: 0, sequence, covered: sequence - 1, firstNeeded: 1 }))
  })
  mkdirSync(join(folder, name))
  writeFileSync(join(folder, name, '00000001.redo'), Buffer.concat(groups))
  return name
}

it('log inspect of an index whose entries cannot be ones prints them, says so and fails', async () => {
  for (const name of ['00000000000000000007.index', '00000000000000000007.timeindex']) {
    writeFileSync(join(folder, name), Buffer.from(Array.from({ length: 240 }, (_, index) => (index * 89) & 255)))
    const { code, stdout, stderr } = await inspect(name, '--max', '3')
    expect([code, stdout.split('\n').length, stderr]).toEqual([1, 4, expect.stringMatching(new RegExp(`^error MR_FILE_FAILED: inspect ${name}: \\d+ entries of \\d+ cannot be of an index, the first is number \\d+: .*\n$`))])
  }
  // Two entries, and room for more as Kafka makes it.
  const sound = Buffer.alloc(64)
  sound.writeInt32BE(5, 0)
  sound.writeInt32BE(4100, 4)
  sound.writeInt32BE(9, 8)
  sound.writeInt32BE(8300, 12)
  writeFileSync(join(folder, '00000000000000000008.index'), sound)
  expect(await inspect('00000000000000000008.index', '--max', '2')).toMatchObject({ code: 0, stderr: '' })
})

it('log inspect says which group a redo log lacks, and fails', async () => {
  expect(await inspect(redoLog('whole', [1, 2, 3]), '-o', 'json').then((result) => [result.code, jsonLines(result).length])).toEqual([0, 3])
  const { code, stderr } = await inspect(redoLog('lacking', [1, 3]))
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error MR_LOG_REDO_CORRUPT: lacking: group 2 is missing, and all up to 2 were on the disk; /)])
})

it('log inspect says which file of a redo log was cut off or is missing, and fails', async () => {
  const path = redoLog('files', [1, 2])
  appendFileSync(join(folder, path, '00000001.redo'), Buffer.alloc(3072))
  for (const name of ['00000002.redo', '00000003.redo']) writeFileSync(join(folder, path, name), Buffer.alloc(4096))
  expect((await inspect(path)).code).toBe(0)
  truncateSync(join(folder, path, '00000002.redo'), 512)
  expect(await inspect(path)).toMatchObject({ code: 1, stderr: expect.stringMatching(/MR_LOG_REDO_CORRUPT: .*00000002\.redo was cut off/) })
  rmSync(join(folder, path, '00000002.redo'))
  expect(await inspect(path)).toMatchObject({ code: 1, stderr: expect.stringMatching(/MR_LOG_REDO_CORRUPT: .*00000002\.redo is missing/) })
})

it('log inspect of a pipe or a device is refused at once, also in a directory', async () => {
  const folderOfPipe = join(folder, 'pipes')
  mkdirSync(folderOfPipe)
  execFileSync('mkfifo', [join(folderOfPipe, '00000000000000000000.log')])
  expect(oneLine(await inspect('pipes/00000000000000000000.log'))).toMatch(/^error MR_FILE_FAILED: inspect pipes\/0+\.log: it is no regular file; name a file of a data directory, or one of its directories/)
  expect(oneLine(await inspect('pipes'))).toMatch(/^error MR_FILE_FAILED: open pipes\/0+\.log: it is no regular file/)
  expect(oneLine(await inspect('/dev/zero'))).toMatch(/it is no regular file/)
})

it('log inspect refuses a format and a limit that it does not have', async () => {
  const path = redoLog('limits', [1])
  expect(oneLine(await inspect(path, '-o', 'xml'))).toContain('Allowed choices are text, json')
  for (const max of ['0', '-1', 'abc']) expect(oneLine(await inspect(path, '--max', max))).toMatch(/^error MR_CLI_USAGE: --max/)
})

it('log inspect prints a checkpoint as JSON where JSON is asked for', async () => {
  writeFileSync(join(folder, 'recovery-point-offset-checkpoint'), '0\n1\nt 0 5\n')
  expect(jsonLines(await inspect('recovery-point-offset-checkpoint', '-o', 'json'))).toEqual([{ text: '0\n1\nt 0 5\n' }])
})

it('log inspect names a damaged batch in one line with a code', async () => {
  const batch = Buffer.alloc(61)
  batch.writeInt32BE(49, 8)
  batch[16] = 2
  writeFileSync(join(folder, '00000000000000000000.log'), batch)
  const { code, stderr } = await inspect('00000000000000000000.log')
  expect([code, stderr]).toEqual([1, 'error MR_RECORD_CORRUPT: 00000000000000000000.log: wrong checksum in 1 batch\n'])
})

/** The directory of a partition as a broker that was stopped leaves it: a closed segment of three batches, and the active one. Gives its name. */
async function partition(name: string): Promise<string> {
  const files = new MemoryFileSystem()
  const { store } = makeStore({ files, timers: new ManualTimers() })
  await store.start()
  const log = store.create({ topic: name, topicId: newTopicId(), partition: 0 }, topicSettings({ segmentBytes: 2000 }))
  for (let count = 0; count < 5; count++) append(log, makeBatch([{ timestamp: count, value: 'x'.repeat(500) }]))
  await store.stop()
  const directory = `${name}-0`
  mkdirSync(join(folder, directory))
  for (const each of files.list(`/data/${directory}`)) writeFileSync(join(folder, directory, each), bytesOf(files, `/data/${directory}/${each}`))
  return directory
}

it('log inspect prints the checksums of a segment, whether it is sealed, and that its batches match', async () => {
  const path = `${await partition('sound')}/00000000000000000000.sum`
  const { code, stdout, stderr } = await inspect(path)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^ {2}topic \S{22} {2}partition 0 {2}segment 0 {2}3 entries\n {2}sealed, complete: [\d,]+ bytes up to offset 3 {2}index [0-9a-f]{8} {2}timeindex [0-9a-f]{8}\n/)
  expect(stdout.match(/^ +\d+ {2}at \d+ +sum [0-9a-f]{8} {2}matches$/gm)).toHaveLength(3)
  const [summary, ...entries] = jsonLines(await inspect(path, '-o', 'json', '--max', '2'))
  expect(summary).toMatchObject({ kind: 'segment', baseOffset: 0, entries: 3, uncoveredBytes: 0, problems: [], sealed: { kind: 'closed', endOffset: 3 } })
  expect(entries).toEqual([0, 1].map((offset) => ({ kind: 'entry', offset, position: expect.any(Number), sum: expect.any(Number), matches: true, problem: null })))
})

it('log inspect of a partition says which batch its checksums deny though its CRC is right, and fails', async () => {
  const path = await partition('rotten')
  const log = join(folder, path, '00000000000000000000.log')
  const bytes = readFileSync(log)
  // The leader epoch of the second batch, which no CRC covers.
  bytes[bytes.length / 3 + 15]! ^= 1
  writeFileSync(log, bytes)
  const { code, stdout, stderr } = await inspect(path)
  expect([code, stderr]).toEqual([1, `error MR_RECORD_CORRUPT: ${path}/00000000000000000000.sum: 1 batch does not match; where a broker writes here, look again\n`])
  expect(stdout.match(/^ +1 {2}at .* DOES NOT MATCH: its header is not what was written$/gm)).toHaveLength(1)
  expect(stdout).not.toContain('crc WRONG')
})

it('log inspect refuses a .sum that has no header of one', async () => {
  writeFileSync(join(folder, 'no.sum'), 'rubbish')
  expect(oneLine(await inspect('no.sum'))).toBe('error MR_FILE_FAILED: inspect no.sum: its header is none that this release writes (length, magic, version or checksum)')
})
