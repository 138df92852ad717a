import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { root } from './source-tree.ts'

interface Documented {
  /** `Admin.createTopics`, or a name alone. */
  readonly name: string
  readonly comment: string
}

/** The word says it, wherever it is: the name of a topic, the number of a partition, the end of a block with `using`. What has a symbol of others is theirs. */
const plain = /\.(?:topic|partition|\[.*\]|'~standard')$/

describe('whoever uses the package', () => {
  it('finds a comment on each name that millrace and millrace/client offer, and on each member of their classes and interfaces', () => {
    const offered = [...documented('src/index.ts'), ...documented('src/client/index.ts')]
    expect(offered.length).toBeGreaterThan(600)
    expect(silent(offered)).toEqual([])
  })

  it.each(['kernel', 'runtime', 'testkit', 'harness'])('finds one on each name that the entry point of src/%s offers', (room) => {
    const offered = documented(`src/${room}/index.ts`).filter(({ name }) => !name.includes('.'))
    expect(offered.length).toBeGreaterThan(room === 'kernel' ? 300 : 3)
    expect(silent(offered)).toEqual([])
  })

  it('finds at each number and duration that an option of a client takes what happens outside of its range, there or for all options together', () => {
    const options = documented('src/client/index.ts').filter(({ name }) => /^(?:ConnectionSettings|ProducerOptions|ConsumerOptions|GroupOptions|PollOptions|SchemaRegistryOptions)$/.test(name))
    expect(options).toHaveLength(6)
    expect(options.filter(({ comment }) => !comment.includes('MR_CLIENT_SETTING')).map(({ name }) => name)).toEqual([])
  })
})

const silent = (offered: readonly Documented[]): string[] => [...new Set(offered.filter(({ comment, name }) => comment === '' && !plain.test(name)).map(({ name }) => name))]

/** What a file exports, its own and others', with the members of classes and interfaces. */
function documented(path: string): Documented[] {
  const file = parse(path)
  return file.statements.flatMap((statement): Documented[] => {
    if (!ts.isExportDeclaration(statement)) return isExported(statement) ? declared(statement, file) : []
    const from = statement.moduleSpecifier === undefined ? path : normalize(join(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text))
    const names = statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause) ? statement.exportClause.elements.map((each) => (each.propertyName ?? each.name).text) : undefined
    return (from === path ? [] : documented(from)).filter(({ name }) => names === undefined || names.includes(name.split('.')[0]!))
  })
}

function declared(statement: ts.Statement, file: ts.SourceFile): Documented[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.filter(({ name }) => !isToken(name.getText(file), file)).map(({ name }) => ({ name: name.getText(file), comment: commentOf(statement, file) }))
  const name = 'name' in statement ? (statement.name as ts.Identifier).text : ''
  // The first of several declarations of one function stands for all.
  if (ts.isFunctionDeclaration(statement) && statement !== file.statements.find((each) => ts.isFunctionDeclaration(each) && each.name?.text === name)) return []
  const own = { name, comment: commentOf(statement, file) }
  if (!ts.isInterfaceDeclaration(statement) && !ts.isClassDeclaration(statement)) return [own]
  const members = (statement.members as ts.NodeArray<ts.ClassElement | ts.TypeElement>).filter((member) => member.name !== undefined && !ts.isPrivateIdentifier(member.name) && !isHidden(member))
    .map((member) => ({ name: `${name}.${member.name!.getText(file)}`, comment: commentOf(member, file) }))
  const said = new Set(members.filter(({ comment }) => comment !== '').map((member) => member.name))
  return [own, ...members.filter((member) => member.comment !== '' || !said.has(member.name))]
}

/** The token of a port has the name of its interface, which is where the comment is. */
const isToken = (name: string, file: ts.SourceFile): boolean => file.statements.some((each) => ts.isInterfaceDeclaration(each) && each.name.text === name)

const modifiersOf = (node: ts.Node): readonly ts.Modifier[] => ts.canHaveModifiers(node) ? ts.getModifiers(node) ?? [] : []
const isExported = (node: ts.Node): boolean => modifiersOf(node).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
const isHidden = (node: ts.Node): boolean => modifiersOf(node).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword || kind === ts.SyntaxKind.ProtectedKeyword)

const commentOf = (node: ts.Node, file: ts.SourceFile): string => ts.getLeadingCommentRanges(file.text, node.getFullStart())
  ?.map(({ pos, end }) => file.text.slice(pos, end)).findLast((each) => each.startsWith('/**')) ?? ''

const parsed = new Map<string, ts.SourceFile>()
function parse(path: string): ts.SourceFile {
  let file = parsed.get(path)
  if (file === undefined) parsed.set(path, file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true))
  return file
}
