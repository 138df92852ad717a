import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clientProperties } from '../../../src/cli/client-properties.ts'
import { program } from '../../../src/cli/program.ts'

const doc = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8')

it('docs/command-line.md lists every client property, and none that is not known', () => {
  const listed = [...doc.matchAll(/`([a-z]+(?:\.[a-z]+)+)`/g)].map((found) => found[1]!)
  expect(clientProperties.filter((name) => !listed.includes(name))).toEqual([])
  expect(listed.filter((name) => !clientProperties.includes(name))).toEqual([])
})

it('docs/command-line.md says what each command prints as JSON', () => {
  const verbs = program().commands.flatMap((command) => command.commands.length === 0 ? [[command.name(), command] as const] : command.commands.map((each) => [`${command.name()} ${each.name()}`, each] as const))
  const withJson = verbs.filter(([, command]) => command.options.some((option) => option.long === '--output')).map(([name]) => name)
  expect(withJson.length).toBeGreaterThan(8)
  expect(withJson.filter((name) => !doc.includes(`\n| \`${name}\` |`))).toEqual([])
})
