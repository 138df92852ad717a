import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Admin, Consumer, createClient, GroupConsumer, Producer } from '../../src/client/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'

const doc = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8')
const block = (language: string): string => new RegExp(`\n\`\`\`${language}\\n(.*?)\n\`\`\``, 's').exec(doc)![1]!

type Run = (parts: object) => Promise<void>
// The examples are of the repository itself.
// eslint-disable-next-line @typescript-eslint/no-implied-eval
const runnable = (code: string): Run => new Function('parts', `return (async ({ producer, consumer, member, admin }) => {\n${code}\n})(parts)`) as Run

it('the examples of docs/client.md run against a millrace', async () => {
  await using broker = await createTestBroker()
  const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
  try {
    const parts = { producer: client.producer(), consumer: client.consumer(), member: client.consumer({ groupId: 'billing' }), admin: client.admin() }
    await runnable(block('js'))(parts)
  } finally {
    await client.close()
  }
})

it.each([
  ['producer', Producer, [], 'producer/producer'], ['consumer', Consumer, [], 'consumer/consumer'], ['admin', Admin, ['ask', 'close'], 'admin/admin'],
  ['member', GroupConsumer, [], 'group/group-consumer'],
] as const)('docs/client.md has an example of every method of a %s', (name, { prototype }, others, file) => {
  const source = readFileSync(new URL(`../../src/client/${file}.ts`, import.meta.url), 'utf8')
  const isPublic = (method: string): boolean => new RegExp(`^  (async )?${method}[(<]`, 'm').test(source)
  const methods = Object.getOwnPropertyNames(prototype).filter((method) => method !== 'constructor' && !(others as readonly string[]).includes(method) && isPublic(method))
  expect(methods.length).toBeGreaterThan(3)
  expect(methods.filter((method) => !block('js').includes(`${name}.${method}(`))).toEqual([])
})
