import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { root } from './source-tree.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts

describe('the README', () => {
  it('begins with the two commands that a fresh machine needs, and both are scripts', () => {
    const beginning = /^# millrace\n\n(?:[^\n#`]+\n)+\n```sh\n([^`]*)```/.exec(readme)?.[1] ?? ''
    expect(beginning.trimEnd().split('\n').map((line) => line.replace(/ *#.*$/, ''))).toEqual(['npm ci && npm start', 'npm ci && npm test'])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test', 'prepare']))
  })

  it.each(['README.md', 'CONTRIBUTING.md'])('%s names no npm script that is not there', (file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const named = [...text.matchAll(/npm run ([a-z:-]+)/g)].map((found) => found[1]!)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it('shows only commands and options of millrace that are there', () => {
    const shown = [...readme.matchAll(/^\$ (?:[^\n]*\| )?millrace ([^\n|`]+)/gm)].map((found) => found[1]!.trim().split(/\s+/))
    expect(shown.length).toBeGreaterThan(4)
    for (const words of shown) {
      let command = program()
      for (const word of words) {
        const next = command.commands.find((each) => each.name() === word)
        if (next === undefined) break
        command = next
      }
      expect([words.join(' '), command.commands.length]).toEqual([words.join(' '), 0])
      const known = command.options.map((option) => option.long)
      expect(words.filter((word) => word.startsWith('--') && !known.includes(word))).toEqual([])
    }
  })

  it('links, as every page of docs does, to pages that are there', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')).map((name) => join('docs', name))]
    const broken = pages.flatMap((page) => [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((found) => found[1]!)
      .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(root, dirname(page), link))).map((link) => `${page}: ${link}`))
    expect(broken).toEqual([])
  })
})
