import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { errorTable, type ErrorCode } from '../../src/kernel/errors/error-table.ts'
import { errorText } from '../../src/kernel/errors/index.ts'
import { root, sourceFiles } from './source-tree.ts'

/** Those that stand by themselves: one that is glued to what is before it may be empty. */
const placeholdersOf = (code: ErrorCode): string[] => [...errorTable[code].template.matchAll(/(?<![\w}])\{(\w+)\}/g)].map((match) => match[1]!)

interface Making {
  readonly at: string
  readonly code: ErrorCode
  /** The text of the value by its name; undefined where details come from elsewhere, by a spread or a variable. */
  readonly given: ReadonlyMap<string, string>
  readonly open: boolean
  /** Whether it says something else in the place of the template. */
  readonly worded: boolean
}

/** Every place of a source where an error of the table is made, or its message. */
function makingsOf(path: string, text = readFileSync(join(root, 'src', path), 'utf8')): Making[] {
  if (!/\b(MillraceError|errorText)\(/.test(text)) return []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const makings: Making[] = []
  const visit = (node: ts.Node): void => {
    const makes = (ts.isNewExpression(node) && node.expression.getText() === 'MillraceError') || (ts.isCallExpression(node) && node.expression.getText() === 'errorText')
    if (makes && node.arguments?.[0] !== undefined) {
      const details = node.arguments[1]
      const given = new Map<string, string>()
      let open = details !== undefined && !ts.isObjectLiteralExpression(details)
      for (const each of details !== undefined && ts.isObjectLiteralExpression(details) ? details.properties : []) {
        if (ts.isPropertyAssignment(each)) given.set(each.name.getText(), each.initializer.getText())
        else if (ts.isShorthandPropertyAssignment(each)) given.set(each.name.text, each.name.text)
        else open = true
      }
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      for (const [, code] of node.arguments[0].getText().matchAll(/'(MR_\w+)'/g)) makings.push({ at: `${path}:${line}`, code: code as ErrorCode, given, open, worded: node.arguments.length > 3 })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return makings
}

const holesOf = (makings: readonly Making[]): string[] => makings.flatMap(({ at, code, given, open, worded }) => placeholdersOf(code)
  .filter((name) => !worded && (given.has(name) ? /^(''|""|``|undefined)$/.test(given.get(name)!) : !open)).map((name) => `${at}: ${code} lacks {${name}}`))

it('each place that makes an error gives every detail that its message is made of, and none as nothing', () => {
  const makings = sourceFiles().flatMap((path) => makingsOf(path))
  expect(makings.length).toBeGreaterThan(200)
  expect(holesOf(makings)).toEqual([])
})

it('a detail that is left out or empty would be found', () => {
  const found = holesOf(makingsOf('x.ts', `
    new MillraceError('MR_RECORD_CODEC_UNAVAILABLE', { codec, remedy: '' })
    errorText('MR_TOPIC_EXISTS', {})
    throw new MillraceError(known ? 'MR_CONFIG_UNKNOWN' : 'MR_TOPIC_EXISTS', { key })
    new MillraceError('MR_TOPIC_EXISTS', details)`))
  expect(found).toEqual(['x.ts:2: MR_RECORD_CODEC_UNAVAILABLE lacks {remedy}', 'x.ts:3: MR_TOPIC_EXISTS lacks {topic}', 'x.ts:4: MR_TOPIC_EXISTS lacks {topic}'])
})

it('no message of the table has a hole where a detail is empty all the same', () => {
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    for (const name of placeholdersOf(code)) {
      const details = Object.fromEntries([...errorTable[code].template.matchAll(/\{(\w+)\}/g)].map(([, each]) => [each!, each === name ? '' : 'x']))
      expect(errorText(code, details), `${code} {${name}}`).toContain('""')
    }
    expect(errorText(code, {}), code).not.toMatch(/ {2}|[({] *[)}]|: ?$|=;|^ /)
  }
})
