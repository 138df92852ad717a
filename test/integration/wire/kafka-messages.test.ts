import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../../src/base/bytes-writer.ts'
import { Prng } from '../../../src/base/prng.ts'
import { codecFor, consumerAssignment, consumerSubscription, kafkaErrorTable, type MessageDefinition, wireApi, wireApis } from '../../../src/wire/index.ts'
import { peersDir } from '../../compat/peers.ts'
import { readMessages } from '../../unit/wire/reference/kafka-grammar.ts'
import { randomMessage } from '../../unit/wire/reference/random-message.ts'

/** Kafka's own classes as the judge. They are there where .ci/install-peers.sh could get Kafka and a JDK. */
const libs = `${peersDir()}/kafka/libs`
const jar = existsSync(libs) ? readdirSync(libs).find(name => /^kafka-clients-[\d.]+\.jar$/.test(name)) : undefined
const echo = fileURLToPath(new URL('MessageEcho.java', import.meta.url))
const seed = Number(process.env['SEED'] ?? 88)
const rounds = 6

function askKafka(lines: readonly string[]): string[] {
  const classPath = readdirSync(libs).filter(name => /^(kafka-clients|slf4j-api)-/.test(name)).map(name => `${libs}/${name}`).join(':')
  const run = spawnSync('java', ['-cp', classPath, echo], { input: lines.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 })
  if (run.status !== 0) throw new Error(`java ended with ${run.status}: ${run.stderr}`)
  return run.stdout.trimEnd().split('\n')
}

interface Case { kind: string; key: number; definition: MessageDefinition }

const cases: Case[] = [
  ...wireApis.flatMap(({ key, request, response }) => [
    { kind: 'request', key, definition: request }, { kind: 'response', key, definition: response },
  ]),
  { kind: 'subscription', key: 0, definition: consumerSubscription },
  { kind: 'assignment', key: 0, definition: consumerAssignment },
]

test.skipIf(jar === undefined)(`Kafka reads every message that we write, and writes the same bytes (seed ${seed}, ${jar ?? 'no Kafka here'})`, () => {
  const facts = readMessages()
  const sent = cases.flatMap(({ kind, key, definition }) => {
    const lines: { what: string; line: string; bytes: string; definition: MessageDefinition; version: number; message: unknown }[] = []
    for (let version = definition.versions.min; version <= definition.versions.max; version++) {
      const prng = new Prng(seed).fork(`${definition.name}${version}`)
      for (let round = 0; round < rounds; round++) {
        const message = randomMessage(facts.get(definition.name)!, version, prng)
        const writer = new BytesWriter()
        codecFor(definition, version).write(writer, message as never)
        const bytes = Buffer.from(writer.finish()).toString('hex')
        lines.push({ what: `${definition.name} v${version}`, line: `${kind} ${key} ${version} ${bytes}`, bytes, definition, version, message })
      }
    }
    return lines
  })
  const answers = askKafka(sent.map(({ line }) => line))
  expect(answers.length).toBe(sent.length)
  const differing = sent.flatMap(({ what, bytes }, index) => answers[index] === bytes ? [] : [`${what}: ${answers[index]!.slice(0, 300)}`])
  expect(differing).toEqual([])
  for (const [index, { definition, version, message }] of sent.entries()) {
    expect(codecFor(definition, version).read(new BytesReader(new Uint8Array(Buffer.from(answers[index]!, 'hex'))))).toEqual(message)
  }
})

test.skipIf(jar === undefined)('our versions and error codes are those of Kafka', () => {
  const keys = wireApis.map(({ key }) => key)
  const versions = keys.map(key => {
    const { name, versions: { min, max } } = wireApi(key)!
    return `${min} ${max} ${name}`
  })
  const [errors, ...ranges] = askKafka(['errors', ...keys.map(key => `versions ${key}`)])
  expect(ranges).toEqual(versions)
  const codes = kafkaErrorTable.map(({ code, name, retriable }) => `${code}:${name}:${retriable}`)
  expect(errors!.split(' ').sort()).toEqual(codes.sort())
})
