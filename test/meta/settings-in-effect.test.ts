import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokerConfigTable } from '../../src/kernel/config/broker-config-table.ts'
import { topicConfigTable } from '../../src/kernel/config/topic-config-table.ts'
import { root, sourceFiles } from './source-tree.ts'

const sources = sourceFiles().filter((path) => !path.startsWith('kernel/config/') && !path.startsWith('cli/') && !path.startsWith('testkit/'))
  .map((path) => readFileSync(join(root, 'src', path), 'utf8')).join('\n')

describe('settings that are said to work', () => {
  it('of brokers are read somewhere, or are the default of a topic\'s setting', () => {
    const defaults = new Set(topicConfigTable.flatMap((row) => row.synonyms.map((synonym) => synonym.name)))
    const unread = brokerConfigTable.filter((row) => row.effect === 'works' && !defaults.has(row.name) && !sources.includes(`'${row.name}'`))
    expect(unread.map((row) => row.name)).toEqual([])
  })

  it('of brokers that are read are not said to have no effect', () => {
    const read = new Set([...sources.matchAll(/\b(?:integer|text|flag|list)\('([\w.]+)'/g)].map((match) => match[1]!))
    expect(brokerConfigTable.filter((row) => row.effect !== 'works' && read.has(row.name)).map((row) => row.name)).toEqual([])
  })

  it('of topics are read as the fields that they come to', () => {
    const model = readFileSync(join(root, 'src/kernel/model/topic-settings.ts'), 'utf8')
    const fields = [...model.matchAll(/^ {2}readonly (\w+):/gm)].map((match) => match[1]!)
    expect(fields.length).toBeGreaterThan(15)
    const others = sources.replace(model, '')
    expect(fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(others))).toEqual([])
  })
})
