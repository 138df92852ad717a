import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import ts from 'typescript'

/** A call of a port that reaches a disk, as the source has it. */
export interface CallSite {
  /** `<file> <function> <method>`, with a number from the second such call in a function on: stable as long as the code does the same. */
  readonly name: string
  readonly file: string
  readonly function: string
  readonly method: string
  /** Of the method's name, as a stack trace counts them: from 1. */
  readonly line: number
  readonly column: number
}

/** Calls of which none can be refused for what the disk is: `close` gives a descriptor back. */
const methods: Readonly<Record<string, readonly string[]>> = {
  FileSystem: ['open', 'list', 'stat', 'makeDirectory', 'rename', 'remove', 'syncDirectory', 'space'],
  File: ['size', 'read', 'readLater', 'write', 'sync', 'syncNow', 'truncate'],
  KeyValueEngine: ['open'],
  KeyValueStore: ['get', 'range', 'write'],
}
const names = new Set(Object.values(methods).flat())
const ports = new Set(['src/kernel/ports/file-system.ts', 'src/kernel/ports/key-value-store.ts'])

/** Those that give the ports, and stand-ins for tests. */
const without = /^src\/(platform|testkit|harness|kernel)\//

/** The rooms of the product of which a file names one of the ports: nobody else can have got hold of a file. */
function filesThatMayCall(root: string): string[] {
  const all = readdirSync(resolve(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts')).map(file => `src/${file}`).filter(file => !without.test(file)).sort()
  const roomOf = (file: string): string => file.split('/').slice(0, file.startsWith('src/plugins/') ? 3 : 2).join('/')
  const rooms = new Set(all.filter(file => /ports\/(file-system|key-value-store)\.ts'/.test(readFileSync(resolve(root, file), 'utf8'))).map(roomOf))
  return all.filter(file => rooms.has(roomOf(file)))
}

/** Every call of a file system or a key-value store in the product, by file. */
export function callSites(root: string): CallSite[] {
  const files = filesThatMayCall(root)
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.ES2023, lib: ['lib.es2023.d.ts'], module: ts.ModuleKind.NodeNext, allowImportingTsExtensions: true, noEmit: true, strict: true, types: [], skipLibCheck: true }
  const host = ts.createCompilerHost(options)
  // What comes from packages has no part in it, and is most of what there would be to parse.
  host.resolveModuleNameLiterals = (literals, containing) => literals.map(({ text }) => ({
    resolvedModule: text.startsWith('.') ? { resolvedFileName: resolve(dirname(containing), text), extension: ts.Extension.Ts, isExternalLibraryImport: false } : undefined,
  }))
  const program = ts.createProgram({ rootNames: files.map(file => resolve(root, file)), options, host })
  const checker = program.getTypeChecker()
  const sites: CallSite[] = []
  const counts = new Map<string, number>()
  for (const file of files) {
    const source = program.getSourceFile(resolve(root, file))!
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && names.has(node.expression.name.text)) {
        const { name } = node.expression
        if (isOfPort(checker, name, root)) {
          const at = source.getLineAndCharacterOfPosition(name.getStart(source))
          const within = functionOf(node)
          const stem = `${file.slice('src/'.length)} ${within} ${name.text}`
          const count = (counts.get(stem) ?? 0) + 1
          counts.set(stem, count)
          sites.push({ name: count === 1 ? stem : `${stem} ${count}`, file, function: within, method: name.text, line: at.line + 1, column: at.character + 1 })
        }
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return sites
}

/** By the declaration that is called, whatever the receiver is called and wherever it comes from; a structural type that has its method counts too. */
function isOfPort(checker: ts.TypeChecker, name: ts.MemberName, root: string): boolean {
  const symbol = checker.getSymbolAtLocation(name)
  return symbol?.declarations?.some(declaration => {
    const owner = declaration.parent
    if (ts.isInterfaceDeclaration(owner) && ports.has(relative(root, declaration.getSourceFile().fileName))) return methods[owner.name.text]?.includes(name.text) === true
    if (ts.isClassDeclaration(owner)) return implementsPort(owner, name.text)
    return ts.isTypeLiteralNode(owner) && owner.members.length > 1 && owner.members.every(member => member.name !== undefined && ts.isIdentifier(member.name) && methods['File']!.includes(member.name.text))
  }) ?? false
}

/** The command line makes its file system itself. */
function implementsPort(owner: ts.ClassDeclaration, method: string): boolean {
  return owner.heritageClauses?.some(({ types }) => types.some(({ expression }) => methods[expression.getText()]?.includes(method) === true)) === true
}

/** `Class.method`, or the function that a call stands in; arrow functions count to what they stand in. */
function functionOf(node: ts.Node): string {
  for (let at = node.parent; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isFunctionDeclaration(at)) return at.name!.text
    if (ts.isMethodDeclaration(at) || ts.isGetAccessor(at) || ts.isPropertyDeclaration(at) || ts.isConstructorDeclaration(at)) {
      return `${(at.parent as ts.ClassDeclaration).name!.text}.${at.name === undefined ? 'constructor' : at.name.getText()}`
    }
  }
  return 'module'
}
