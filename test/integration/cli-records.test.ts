import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, mainJs } from './built.ts'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { cli as run, jsonLines, jsonOf, oneLine, withoutProgress, type CliResult } from './cli-run.ts'

let broker: BrokerProcess
let folder = ''
let topics = 0
beforeAll(async () => {
  ensureBuilt()
  folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'))
  broker = await startBroker(['--preset', 'memory', '--set', 'auto.create.topics.enable=false'])
}, 120_000)
afterAll(async () => {
  await broker.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
})

const cli = (args: readonly string[], input?: string | Uint8Array): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap, ...input === undefined ? {} : { input } })

async function newTopic(...args: readonly string[]): Promise<string> {
  const name = `topic-${++topics}`
  expect((await cli(['topic', 'create', name, ...args])).code).toBe(0)
  return name
}

const values = (result: CliResult): string[] => (jsonLines(result) as { value: string }[]).map((each) => Buffer.from(each.value, 'base64').toString())

describe('produce', () => {
  it('sends lines of standard input, and consume prints them', async () => {
    const topic = await newTopic()
    expect(await cli(['produce', topic], 'one\ntwo\n\nfour')).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`^${topic}: 4 records acknowledged in \\d+`)), stderr: '' })
    expect(await cli(['consume', topic])).toEqual({ code: 0, stdout: 'one\ntwo\n\nfour\n', stderr: '' })
  })

  it('keeps bytes that are no text, keys, headers and partition', async () => {
    const topic = await newTopic('--partitions', '4')
    const sent = await cli(['produce', topic, '--key-separator', '=>', '--header', 'a=1', '--header', 'b=x=y', '--partition', '2', '--acks', '1'], Buffer.concat([Buffer.from('k=>'), Buffer.of(0, 255, 13), Buffer.from('\n')]))
    expect(sent.code).toBe(0)
    const [record] = jsonLines(await cli(['consume', topic, '-o', 'json'])) as [Record<string, unknown>]
    expect(record).toEqual({
      topic, partition: 2, offset: 0, timestamp: expect.any(Number), key: Buffer.from('k').toString('base64'), value: Buffer.of(0, 255, 13).toString('base64'),
      headers: [{ key: 'a', value: Buffer.from('1').toString('base64') }, { key: 'b', value: Buffer.from('x=y').toString('base64') }],
    })
    expect(Math.abs((record['timestamp'] as number) - Date.now())).toBeLessThan(120_000)
  })

  it('keeps lines with one key in one partition and in order, in every codec', async () => {
    const topic = await newTopic('--partitions', '5')
    const lines = Array.from({ length: 5_000 }, (_, index) => `key-${index % 7}:${index}`)
    for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
      expect((await cli(['produce', topic, '--key-separator', ':', '--compression', codec], `${lines.join('\n')}\n`)).code).toBe(0)
    }
    const records = (jsonLines(await cli(['consume', topic, '-o', 'json'])) as { partition: number, key: string, value: string }[]).map((each) => ({
      partition: each.partition, key: Buffer.from(each.key, 'base64').toString(), value: Number(Buffer.from(each.value, 'base64').toString()),
    }))
    expect(records.length).toBe(25_000)
    for (let key = 0; key < 7; key++) {
      const own = records.filter((each) => each.key === `key-${key}`)
      const once = lines.flatMap((line, index) => line.startsWith(`key-${key}:`) ? index : [])
      expect(own.map((each) => each.value)).toEqual([...once, ...once, ...once, ...once, ...once])
      expect(new Set(own.map((each) => each.partition)).size).toBe(1)
    }
  })

  it('reads a file, and counts as JSON', async () => {
    const topic = await newTopic('--partitions', '2')
    const path = join(folder, 'lines.txt')
    writeFileSync(path, 'a\nb\nc\n')
    expect(jsonOf(await cli(['produce', topic, '--file', path, '--partition', '1', '-o', 'json']))).toEqual({
      topic, acks: 'all', sent: 3, failed: 0, bytes: 3, elapsedMs: expect.any(Number), partitions: { 1: 3 }, errors: [],
    })
  })

  it('with acks 0 says that it sent, not that anybody has it', async () => {
    const topic = await newTopic()
    expect((await cli(['produce', topic, '--acks', '0'], 'x\n')).stdout).toMatch(/1 record sent in/)
    expect((await cli(['consume', topic])).stdout).toBe('x\n')
  })

  it('counts records that are refused, says why once, and exits with 1', async () => {
    const topic = await newTopic('--config', 'max.message.bytes=1000')
    const result = await cli(['produce', topic, '-o', 'json'], `small\n${'x'.repeat(3_000_000)}\n${'y'.repeat(3_000_000)}\nsmall\n`)
    expect([result.code, jsonOf(result)]).toEqual([1, expect.objectContaining({ sent: 2, failed: 2, errors: [{ count: 2, error: expect.stringMatching(/^MR_CLIENT_RECORD_TOO_LARGE: /) }] })])
    expect(result.stderr).toMatch(/^error MR_CLIENT_RECORD_TOO_LARGE: .* \(2 records\)\n$/)
    expect((await cli(['consume', topic])).stdout).toBe('small\nsmall\n')
  })

  it('stops at a line without the key separator and names it', async () => {
    const topic = await newTopic()
    const result = await cli(['produce', topic, '--key-separator', ':'], 'a:1\nb2\nc:3\n')
    expect([result.code, result.stdout, result.stderr]).toEqual([1, expect.stringContaining('1 record acknowledged'), expect.stringMatching(/^error MR_CLI_INPUT: standard input, line 2: it has no key separator ":"/)])
  })

  it('to a topic or partition that is not there fails within seconds', async () => {
    const topic = await newTopic()
    const unknown = await cli(['produce', `${topic}x`], 'x\n')
    expect([unknown.code, unknown.stderr]).toEqual([1, `error MR_TOPIC_UNKNOWN: topic ${topic}x does not exist; did you mean ${topic}?\n`])
    const partition = await cli(['produce', topic, '--partition', '7'], 'x\n')
    expect([partition.code, partition.stderr]).toEqual([1, expect.stringMatching(/MR_CLIENT_PARTITION_UNKNOWN: .*it has 1/)])
  })

  it('of a file that is not there fails before anything is sent', async () => {
    const result = await cli(['produce', await newTopic(), '--file', join(folder, 'none')])
    expect([result.code, oneLine(result)]).toEqual([1, expect.stringMatching(/^error MR_FILE_NOT_FOUND: read .*none/)])
  })
})

describe('consume', () => {
  it('begins where --from says and stops at the end of the start', async () => {
    const topic = await newTopic()
    await cli(['produce', topic], 'a\nb\nc\nd\n')
    expect((await cli(['consume', topic, '--from', '2'])).stdout).toBe('c\nd\n')
    expect((await cli(['consume', topic, '--from', 'end'])).stdout).toBe('')
    expect((await cli(['consume', topic, '--from', '4'])).stdout).toBe('')
    expect((await cli(['consume', topic, '--max', '3'])).stdout).toBe('a\nb\nc\n')
    expect((await cli(['consume', topic, '--from', '@-1h', '--max', '1'])).stdout).toBe('a\n')
    expect((await cli(['consume', topic, '--from', '@2100-01-01'])).stdout).toBe('')
  })

  it('from a time begins with the first record that is not older', async () => {
    const topic = await newTopic()
    await cli(['produce', topic], 'old\n')
    const [old] = jsonLines(await cli(['consume', topic, '-o', 'json'])) as [{ timestamp: number }]
    await cli(['produce', topic], 'new\n')
    expect((await cli(['consume', topic, '--from', `@${old.timestamp}`])).stdout).toBe('old\nnew\n')
    expect((await cli(['consume', topic, '--from', `@${old.timestamp + 1}`])).stdout).toBe('new\n')
  })

  it('from an offset that is not there names those that are', async () => {
    const topic = await newTopic()
    await cli(['produce', topic], 'a\n')
    const result = await cli(['consume', topic, '--from', '9'])
    expect([result.code, oneLine(result)]).toEqual([1, `error MR_LOG_OFFSET_OUT_OF_RANGE: offset 9 of ${topic}-0 is outside [0, 1]; choose one within`])
  })

  it('from an offset in several partitions is refused', async () => {
    const topic = await newTopic('--partitions', '2')
    const result = await cli(['consume', topic, '--from', '0'])
    expect([result.code, oneLine(result)]).toEqual([2, expect.stringMatching(/^error MR_CLI_USAGE: .*name one with --partition/)])
  })

  it('reads all partitions, or one', async () => {
    const topic = await newTopic('--partitions', '3')
    for (const partition of ['0', '1', '2']) await cli(['produce', topic, '--partition', partition], `in ${partition}\n`)
    expect(values(await cli(['consume', topic, '-o', 'json'])).sort()).toEqual(['in 0', 'in 1', 'in 2'])
    expect((await cli(['consume', topic, '--partition', '1'])).stdout).toBe('in 1\n')
    const none = await cli(['consume', topic, '--partition', '3'])
    expect([none.code, oneLine(none)]).toEqual([1, expect.stringMatching(/MR_CLIENT_PARTITION_UNKNOWN: .* no partition 3; it has 3/)])
  })

  it('prints keys where asked, null as null', async () => {
    const topic = await newTopic()
    await cli(['produce', topic, '--key-separator', ':'], 'k:v\n')
    await cli(['produce', topic], 'keyless\n')
    expect((await cli(['consume', topic, '--print-key'])).stdout).toBe('k\tv\nnull\tkeyless\n')
    expect((await cli(['consume', topic, '--key-separator', ' is '])).stdout).toBe('k is v\nnull is keyless\n')
  })

  it('--follow waits for more, begins at the end, and ends cleanly at SIGINT', async () => {
    const topic = await newTopic()
    await cli(['produce', topic], 'before\n')
    const child = spawn(process.execPath, [mainJs, 'consume', topic, '--follow', '--from', 'beginning', '--bootstrap', broker.bootstrap], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let error = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => { error += text })
    const saw = (text: string): Promise<void> => new Promise((resolve) => {
      const look = (): void => {
        if (!out.includes(text)) return
        child.stdout.off('data', look)
        resolve()
      }
      child.stdout.on('data', look)
      look()
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => { out += text })
    await saw('before\n')
    await cli(['produce', topic], 'after\n')
    await saw('after\n')
    const ended = new Promise<number | null>((resolve) => { child.once('close', (code) => { resolve(code) }) })
    child.kill('SIGINT')
    expect([await ended, out, withoutProgress(error)]).toEqual([0, 'before\nafter\n', ''])
  })

  it('into a reader that goes away (| head) is no error', async () => {
    const topic = await newTopic()
    await cli(['produce', topic], Array.from({ length: 200_000 }, (_, index) => `line ${index}\n`).join(''))
    const shell = spawnSync('bash', ['-c', `set -o pipefail; '${process.execPath}' '${mainJs}' consume ${topic} --bootstrap ${broker.bootstrap} | head -2`], { encoding: 'utf8' })
    expect([shell.status, shell.stdout, withoutProgress(shell.stderr)]).toEqual([0, 'line 0\nline 1\n', ''])
  })

  it('a topic that is not there is refused', async () => {
    const unknown = await cli(['consume', 'nowhere-at-all'])
    expect([unknown.code, oneLine(unknown)]).toEqual([1, 'error MR_TOPIC_UNKNOWN: topic nowhere-at-all does not exist; `millrace topic list` shows those there are'])
  })
})
