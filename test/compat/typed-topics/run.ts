/**
 * Bytes of our serdes read by Confluent's own serializers for Python and by @kafkajs/confluent-schema-registry, and theirs by ours, over a registry: that of the
 * tests, or a real one that speaks Confluent's API. `npx tsx test/compat/typed-topics/run.ts [--registry URL]`.
 * Exit code 0: all passed; 1: some failed; 3: the peers are not installed here (.ci/install-peers.sh).
 */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { avro, json, protobuf, schemaRegistry, type Serde } from '../../../src/client/index.ts'
import { listen, TestRegistry } from '../../unit/client/typed/registry/test-registry.ts'
import { compatDir, peerFile } from '../peers.ts'

const { values: args } = parseArgs({ options: { registry: { type: 'string' } } })
const python = peerFile('serializers', 'py', 'bin', 'python')
const packages = peerFile('serializers', 'node_modules', '@kafkajs', 'confluent-schema-registry', 'package.json')
if (python === undefined || packages === undefined) {
  console.log('typed topics: SKIPPED: the serializers of others are not installed; .ci/install-peers.sh installs them')
  console.log('0 passed, 0 failed, 12 skipped')
  process.exit(3)
}

const own = args.registry === undefined ? await listen(new TestRegistry()) : undefined
const url = args.registry ?? own!.url
const registry = schemaRegistry({ url })
/** Topics of its own: a real registry keeps what earlier runs have left. */
const run = `t${Date.now()}`
const [avroTopic, jsonTopic, orderTopic, itemTopic] = [`${run}-avro`, `${run}-json`, `${run}-order`, `${run}-item`]

const schema = { type: 'record', name: 'Order', namespace: 'shop', fields: [{ name: 'id', type: 'string' }, { name: 'cents', type: 'long' }, { name: 'tags', type: { type: 'array', items: 'string' } }, { name: 'note', type: ['null', 'string'], default: null }] }
const jsonSchema = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Order', type: 'object', properties: { id: { type: 'string' }, cents: { type: 'integer' } } }
const proto = 'syntax = "proto3";\npackage shop;\nmessage Other {\n}\nmessage Order {\n  string id = 1;\n  int64 cents = 2;\n  message Item {\n    string sku = 1;\n  }\n}\n'
const avroValue = { id: 'o-ü', cents: -4503599627370497, tags: ['a', ''], note: null }
const jsonValue = { id: 'o-ü', cents: 995 }
const use = { registry, autoRegister: true }

const child = spawn(python, [join(compatDir, 'typed-topics', 'serializers.py')], { stdio: ['pipe', 'pipe', 'inherit'] })
const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
async function ask(command: object): Promise<unknown> {
  child.stdin.write(`${JSON.stringify({ registry: url, ...command })}\n`)
  const { ok, error } = JSON.parse((await answers.next()).value as string) as { ok?: unknown, error?: string }
  if (error !== undefined) throw new Error(error)
  return ok
}

let [passes, failures] = [0, 0]
async function check(claim: string, actual: () => Promise<unknown>, expected: unknown): Promise<void> {
  try {
    const value = await actual()
    if (!isDeepStrictEqual(JSON.parse(plain(value)), JSON.parse(plain(expected)))) throw new Error(`${plain(value)} is not ${plain(expected)}`)
    passes++
    console.log(`ok    ${claim}`)
  } catch (error) {
    failures++
    console.log(`FAIL  ${claim}: ${String(error)}`)
  }
}
const plain = (value: unknown): string => JSON.stringify(value, (_name, each: unknown) => typeof each === 'bigint' ? String(each) : each)
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

interface Case { readonly claim: string, readonly format: string, readonly topic: string, readonly serde: Serde<object>, readonly value: object, readonly theirs: object }
const cases: readonly Case[] = [
  { claim: 'Avro', format: 'avro', topic: avroTopic, serde: avro<object>(schema, use), value: avroValue, theirs: { schema: JSON.stringify(schema) } },
  { claim: 'JSON', format: 'json', topic: jsonTopic, serde: json<object>(undefined, { ...use, jsonSchema }), value: jsonValue, theirs: { schema: JSON.stringify(jsonSchema) } },
  { claim: 'Protobuf, the second message', format: 'protobuf', topic: orderTopic, serde: protobuf<object>({ proto, message: 'shop.Order' }, use), value: { id: 'o-ü', cents: '-9007199254740993' }, theirs: { message: 'shop.Order' } },
  { claim: 'Protobuf, a nested message', format: 'protobuf', topic: itemTopic, serde: protobuf<object>({ proto, message: 'shop.Order.Item' }, use), value: { sku: 'ü' }, theirs: { message: 'shop.Order.Item' } },
]
for (const { claim, format, topic, serde, value, theirs } of cases) {
  const place = { topic, part: 'value' } as const
  await check(`${claim}: Confluent for Python reads ours`, async () => ask({ op: 'decode', format, topic, ...theirs, bytes: base64(await serde.encode(value, place)) }), value)
  await check(`${claim}: ours reads Confluent for Python's`, async () => serde.decode(Buffer.from(await ask({ op: 'encode', format, topic: `${topic}-py`, ...theirs, value }) as string, 'base64'), place), value)
}

interface OtherRegistry { decode(bytes: Buffer): Promise<unknown>, encode(id: number, value: unknown): Promise<Buffer> }
const { SchemaRegistry } = createRequire(packages)('.') as { SchemaRegistry: new (options: { host: string }) => OtherRegistry }
const other = new SchemaRegistry({ host: url })
const smaller = { ...avroValue, cents: 995 }
const place = { topic: avroTopic, part: 'value' } as const
await check('Avro: @kafkajs/confluent-schema-registry reads ours', async () => other.decode(Buffer.from(await cases[0]!.serde.encode(smaller, place))), smaller)
await check('Avro: ours reads that of @kafkajs/confluent-schema-registry', async () => cases[0]!.serde.decode(await other.encode(await registry.find(`${avroTopic}-value`, { schemaType: 'AVRO', schema: JSON.stringify(schema) }), smaller), place), smaller)

await check('the registry tells the latest, versions and compatibility', async () => {
  const subject = `${avroTopic}-value`
  const { version } = await registry.latest(subject)
  const wider = { ...schema, fields: [...schema.fields, { name: 'more', type: 'int', default: 0 }] }
  return [version, (await registry.version(subject, 1)).id === (await registry.latest(subject)).id, (await registry.checkCompatibility(subject, { schemaType: 'AVRO', schema: JSON.stringify(wider) })).isCompatible]
}, [1, true, true])
await check('what the registry does not have is MR_REGISTRY_NOT_FOUND', async () => {
  const codes = [registry.byId(2_000_000_000), registry.latest(`${run}-none`), registry.find(`${run}-none`, { schemaType: 'AVRO', schema: '"int"' })].map(each => each.catch((error: unknown) => (error as { code?: string }).code))
  return Promise.all(codes)
}, Array.from({ length: 3 }, () => 'MR_REGISTRY_NOT_FOUND'))

child.stdin.end()
await own?.close()
console.log(`${passes} passed, ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1
