import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type CompatClient, codecs, type ConsumeRun, type ProduceRun } from '../client.ts'
import { temporaryDir } from '../peers.ts'
import { outputOf, runProgram } from '../process.ts'
import { decodeContent, encodeContent, type ReceivedRecord } from '../record-stream.ts'

const settings = ['-X', 'broker.address.family=v4']

async function produce ({ bootstrap, topic, codec, dataset }: ProduceRun): Promise<void> {
  const dir = temporaryDir('kcat')
  const file = join(dir, 'lines')
  const records = dataset.contents.map(decodeContent)
  const tab = Buffer.from('\t')
  const newline = Buffer.from('\n')
  writeFileSync(file, Buffer.concat(records.flatMap(({ key, value }) => [key!, tab, value!, newline])))
  const headers = records[0]!.headers.flatMap(([name, value]) => ['-H', `${name}=${Buffer.from(value!).toString()}`])
  try {
    await runProgram('kcat', ['-P', '-b', bootstrap, ...settings, '-t', topic, '-z', codec, '-K', '\t', ...headers, '-l', file])
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Lengths come first, so that key and value may hold anything; only headers are text. */
const format = '%p %o %K %S %k%s%h\n'

function parse (output: Buffer): ReceivedRecord[] {
  const received: ReceivedRecord[] = []
  for (let at = 0; at < output.length;) {
    const numbers: number[] = []
    for (let i = 0; i < 4; i++) {
      const space = output.indexOf(0x20, at)
      numbers.push(Number(output.toString('latin1', at, space)))
      at = space + 1
    }
    const [partition, offset, keyLength, valueLength] = numbers as [number, number, number, number]
    const take = (length: number): Buffer | null => {
      if (length < 0) return null
      at += length
      return output.subarray(at - length, at)
    }
    const key = take(keyLength)
    const value = take(valueLength)
    const end = output.indexOf(0x0a, at)
    const text = output.toString('utf8', at, end)
    const headers = text === '' ? [] : text.split(',').map(pair => {
      const equals = pair.indexOf('=')
      return [pair.slice(0, equals), Buffer.from(pair.slice(equals + 1))] as const
    })
    received.push({ partition, offset, content: encodeContent({ key, value, headers }) })
    at = end + 1
  }
  return received
}

async function consume ({ bootstrap, topic }: ConsumeRun): Promise<ReceivedRecord[]> {
  const { stdout } = await runProgram('kcat', ['-C', '-b', bootstrap, ...settings, '-X', 'check.crcs=true',
    '-t', topic, '-o', 'beginning', '-e', '-q', '-f', format])
  return parse(stdout)
}

/** Debian's kcat on Debian's librdkafka of 2023, without idempotence and with the simple consumer. */
export const kcat: CompatClient = {
  name: 'kcat',
  missing: () => spawnSync('kcat', ['-V']).status === 0 ? undefined : "Debian's kcat is not installed",
  version: async () => {
    const said = await outputOf('kcat', ['-V'])
    return `${/Version (\S+)/.exec(said)?.[1] ?? '?'}, librdkafka ${/librdkafka (\S+)/.exec(said)?.[1] ?? '?'}`
  },
  codecs,
  writes: 'tagged',
  produce,
  reads: ['text', 'tagged', 'counted'],
  consume,
}
