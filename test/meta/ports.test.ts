import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root, sourceFiles } from './source-tree.ts'

interface Port {
  readonly name: string
  readonly methods: readonly { readonly name: string, readonly hasComment: boolean }[]
  readonly hasComment: boolean
}

const methodsMax = 8

/** The interfaces of a file of ports that have methods, with those that they inherit from one of the same file. */
function portsOf(path: string): Port[] {
  const text = readFileSync(join(root, 'src', path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const commented = (node: ts.Node): boolean => ts.getLeadingCommentRanges(text, node.getFullStart())?.some(({ pos }) => text.startsWith('/**', pos)) === true
  return file.statements.filter(ts.isInterfaceDeclaration).map((each) => ({
    name: `${path}: ${each.name.text}`, hasComment: commented(each),
    methods: each.members.filter(ts.isMethodSignature).map((method) => ({ name: method.name.getText(), hasComment: commented(method) })),
  })).filter(({ methods }) => methods.length > 0)
}

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
    const silent = ports.flatMap(({ name, methods, hasComment }) => methods.length === 1 && hasComment ? []
      : methods.filter((method) => !method.hasComment).map((method) => `${name}.${method.name}`))
    expect(silent).toEqual([])
  })
})
