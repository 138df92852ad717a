import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

/** Names of the settings that an interface in a source file declares. */
function settingsOf(path: string, name: string): string[] {
  const body = new RegExp(`export interface ${name} \\{(.*?)\\n\\}`, 's').exec(read(path))![1]!
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(found => found[1]!)
}

describe('docs/client.md', () => {
  it.each([
    ['src/client/client-options.ts', 'ConnectionSettings'], ['src/client/producer/producer-settings.ts', 'ProducerOptions'],
    ['src/client/consumer/consumer-settings.ts', 'ConsumerOptions'],
  ])('has a row for every setting of %s', (path, name) => {
    const rows = read('docs/client.md').split('\n').filter(line => line.startsWith('| `'))
    const named = new Set(rows.flatMap(row => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(found => found[1]!)))
    const settings = settingsOf(path, name)
    expect(settings.length).toBeGreaterThan(5)
    expect(settings.filter(setting => !named.has(setting))).toEqual([])
  })
})
