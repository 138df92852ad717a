import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../src/kernel/errors/error-table.ts'
import { root, sourceFiles } from './source-tree.ts'

interface Port {
  readonly name: string
  readonly methods: readonly { readonly name: string, readonly comment: string }[]
  readonly comment: string
}

const methodsMax = 8
/** Names a code, or says that it throws, or tells of errors, in some other way or not at all. */
const ofErrors = /\bMR_[A-Z_]+\b|\b(?:throws?|thrown|rejects?|rejection)\b/i

function commentIn(text: string, node: ts.Node): string {
  return ts.getLeadingCommentRanges(text, node.getFullStart())?.map(({ pos, end }) => text.slice(pos, end)).findLast((each) => each.startsWith('/**')) ?? ''
}

/** The interfaces of a file of ports that have methods, with those that they inherit from one of the same file. */
function portsOf(path: string): Port[] {
  const text = readFileSync(join(root, 'src', path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const commentOf = (node: ts.Node): string => commentIn(text, node)
  return file.statements.filter(ts.isInterfaceDeclaration).map((each) => ({
    name: `${path}: ${each.name.text}`, comment: commentOf(each),
    methods: each.members.filter(ts.isMethodSignature).map((method) => ({ name: method.name.getText(), comment: commentOf(method) })),
  })).filter(({ methods }) => methods.length > 0)
}

/** The fields of all interfaces of a file of ports, those without methods too. */
function fieldsOf(path: string): { readonly name: string, readonly comment: string }[] {
  const text = readFileSync(join(root, 'src', path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  return file.statements.filter(ts.isInterfaceDeclaration).flatMap(({ name, members }) => members.filter(ts.isPropertySignature).map((member) => ({
    name: `${path}: ${name.text}.${member.name.getText()}`, comment: commentIn(text, member),
  })))
}

const fields = sourceFiles().filter((path) => path.startsWith('kernel/ports/')).flatMap(fieldsOf)
const ports = sourceFiles().filter((path) => path.startsWith('kernel/ports/')).flatMap(portsOf)

describe('the ports', () => {
  it('are found', () => {
    expect(ports.length).toBeGreaterThan(30)
  })

  it('name all of their methods with their token, so that a composition refuses an object that lacks one', () => {
    const texts = sourceFiles().filter((path) => path.startsWith('kernel/')).map((path) => readFileSync(join(root, 'src', path), 'utf8')).join('\n')
    const tokens = [...texts.matchAll(/= token<(\w+)>\('\w+'(, \{)?/g)]
    expect(tokens.length).toBeGreaterThan(30)
    expect(tokens.filter(([, , methods]) => methods === undefined).map(([, name]) => name)).toEqual([])
  })

  it(`have at most ${methodsMax} methods each: more is two ports`, () => {
    const large = ports.filter(({ methods }) => methods.length > methodsMax).map(({ name, methods }) => `${name} has ${methods.length}`)
    expect(large).toEqual([])
  })

  it('say of each method what may be relied on, in a comment of its own, or of the interface where it has one alone', () => {
    const silent = ports.flatMap(({ name, methods, comment }) => methods.length === 1 && comment !== '' ? []
      : methods.filter((method) => method.comment === '').map((method) => `${name}.${method.name}`))
    expect(silent).toEqual([])
  })

  it('say of each field what it is, in a comment of its own: units, ranges, what its absence means', () => {
    const silent = fields.filter(({ comment }) => comment === '').map(({ name }) => name)
    expect(fields.length).toBeGreaterThan(150)
    expect(silent).toEqual([])
  })

  it('say of each method which errors it has, or that it has none, in its comment or in that of the interface for all of them', () => {
    const silent = ports.flatMap(({ name, methods, comment }) => ofErrors.test(comment) ? []
      : methods.filter((method) => !ofErrors.test(method.comment)).map((method) => `${name}.${method.name}`))
    expect(silent).toEqual([])
  })

  it('name no code that is not in the table of errors', () => {
    const named = ports.flatMap(({ name, methods, comment }) => [comment, ...methods.map((method) => method.comment)].flatMap((each) => [...each.matchAll(/\bMR_[A-Z_]+[A-Z]\b/g)].map(([code]) => `${name}: ${code}`)))
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((each) => !(each.split(': ')[2]! in errorTable))).toEqual([])
  })

  it('are in docs/plugins/conformance.md, each with its kit, which the testkit exports, or with why it has none', () => {
    const page = readFileSync(join(root, 'docs/plugins/conformance.md'), 'utf8')
    const rows = [...page.matchAll(/^\| (`.*`) \| (.{15,}) \|$/gm)].map(([, names, text]) => ({ names: [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!), text: text! }))
    const tokens = sourceFiles().filter((path) => path.startsWith('kernel/ports/')).flatMap((path) => [...readFileSync(join(root, 'src', path), 'utf8').matchAll(/^export const (\w+) = token</gm)].map(([, name]) => name!))
    expect(tokens.length).toBeGreaterThan(25)
    expect(tokens.filter((name) => rows.filter(({ names }) => names.includes(name)).length !== 1)).toEqual([])
    const kits = rows.flatMap(({ text }) => /^`(\w+)`$/.exec(text)?.[1] ?? [])
    const exported = readFileSync(join(root, 'src/testkit/index.ts'), 'utf8')
    expect([...exported.matchAll(/\b\w+Conformance\b(?=,)/g)].map(([kit]) => kit).filter((kit) => /^[a-z]/.test(kit)).sort()).toEqual(kits.sort())
  })
})
