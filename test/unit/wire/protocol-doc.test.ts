import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Api, apiName, wireApi, wireApis } from '../../../src/wire/index.ts'
import { readApis } from './reference/kafka-grammar.ts'

const page = new URL('../../../docs/protocol.md', import.meta.url)
const tableOf = /(<!-- codec table: [^\n]*-->\n)[^]*?(<!-- end of codec table -->)/

function row(api: Api): string {
  const { min, max } = api.versions
  const range = min === max ? String(min) : `${min} to ${max}`
  return `| ${api.key} | ${api.name} | ${range} | ${api.flexible === undefined ? 'never' : api.flexible.min} |`
}

const table = ['| key | API | versions | flexible from |', '|---|---|---|---|', ...wireApis.map(row)].join('\n')

test('docs/protocol.md lists the APIs and versions that can be read and written', () => {
  const text = readFileSync(page, 'utf8')
  const expected = text.replace(tableOf, (_all, head: string, end: string) => `${head}\n${table}\n\n${end}`)
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(page, expected)
  expect(tableOf.test(text), 'the page has a place for the table').toBe(true)
  expect(readFileSync(page, 'utf8'), 'run with UPDATE_DOCS=1').toBe(expected)
})

test('docs/protocol.md says of every API of Kafka 4.4 without messages why there are none', () => {
  const reasons = readFileSync(page, 'utf8').split('### Without messages here')[1]!.split('###')[0]!
  const named = new Set<number>()
  for (const [, list] of reasons.matchAll(/\(([\d, to]+)\)/g)) {
    for (const part of list!.split(', ')) {
      const [low, high = low] = part.split(' to ').map(Number)
      for (let key = low!; key <= high!; key++) named.add(key)
    }
  }
  const without = readApis().filter(({ key }) => wireApi(key) === undefined).map(({ key }) => key)
  expect([...named].sort((a, b) => a - b).map(apiName)).toEqual(without.map(apiName))
})
