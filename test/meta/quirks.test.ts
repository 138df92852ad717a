import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from './source-tree.ts'

const page = readFileSync(join(root, 'docs/quirks.md'), 'utf8')
const listed = [...page.matchAll(/^(\d+)\. /gm)].map((match) => Number(match[1]))
const exempt = [.../^Not served yet[^\n]*/m.exec(page)![0].replaceAll(/\([^)]*\)/g, '').matchAll(/\d+/g)].map((match) => Number(match[0]))

/** What `it`, `test` and `describe` are given first, those behind `.each(…)` too. */
function titlesOf(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  if (!/quirk/i.test(text)) return []
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    const [title] = ts.isCallExpression(node) ? node.arguments : []
    if (ts.isCallExpression(node) && /^(it|test|describe)\b/.test(node.expression.getText()) && title !== undefined && /^['"`]/.test(title.getText())) titles.push(title.getText())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return titles
}

const titles = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.test.ts')).flatMap((path) => titlesOf(join('test', path)))
const numbersOf = (title: string): number[] => [...title.matchAll(/\bquirk (\d+)\b/g)].map((match) => Number(match[1]))
const named = titles.flatMap(numbersOf)

describe('the quirks of docs/quirks.md', () => {
  it('are numbered without gaps', () => {
    expect(listed).toEqual(Array.from({ length: 58 }, (_, index) => index + 1))
  })

  it('are each alone in the title of a test, but for those that the page says are not served yet', () => {
    const alone = new Set(titles.map(numbersOf).filter(({ length }) => length === 1).flat())
    expect(listed.filter((number) => !alone.has(number))).toEqual(exempt)
  })

  it('are the only ones that titles name, each in words that are found when it is looked for', () => {
    expect(named.filter((number) => !listed.includes(number))).toEqual([])
    expect(titles.filter((title) => /\bquirks \d|\bquirk \d+(, | and | to )\d|\bQuirk \d/.test(title))).toEqual([])
  })
})
