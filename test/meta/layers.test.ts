import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Import, importsOf, root, sourceFiles } from './source-tree.ts'

interface Layers {
  readonly rooms: Readonly<Record<string, readonly string[]>>
  readonly except: Readonly<Record<string, readonly string[]>>
  readonly files: Readonly<Record<string, readonly string[]>>
  readonly packages: Readonly<Record<string, readonly string[]>>
}
const layers = JSON.parse(readFileSync(join(root, 'layers.json'), 'utf8')) as Layers

const roomOf = (path: string): string => {
  const parts = path.split('/')
  return parts[0] === 'plugins' ? `plugins/${parts[1]}` : parts[0]!
}
const allows = (patterns: readonly string[], room: string): boolean =>
  patterns.some((pattern) => pattern === '*' || pattern === room || (pattern.endsWith('/*') && room.startsWith(pattern.slice(0, -1))))

function fault({ from, to, kind }: Import): string | undefined {
  const room = roomOf(from)
  const rule = room.startsWith('plugins/') ? 'plugins/*' : room
  if (kind === 'package') {
    const places = Object.entries(layers.packages).find(([name]) => name === to || (name === 'node:*' && to.startsWith('node:')))?.[1]
    if (places === undefined) return `${from} names ${to}, which layers.json gives to no room`
    if (places.some((place) => from.startsWith(`${place}/`) || allows([place], room))) return undefined
    return `${from} names ${to}, which belongs to ${places.join(', ')}`
  }
  const target = roomOf(to)
  if (target === room) return undefined
  const allowed = [...(layers.rooms[rule] ?? []), ...(layers.files[from] ?? [])]
  if (allows(allowed, target) && !allows(layers.except[rule] ?? [], target)) return undefined
  return `${from} imports ${to}; ${rule} may import ${allowed.join(', ') || 'nothing'}`
}

function corePurity({ from, to, kind }: Import): string | undefined {
  if (!from.includes('/core/') || !from.startsWith('plugins/')) return undefined
  if (kind === 'package') return to === 'zod' ? undefined : `${from}: a core imports no package (${to})`
  if (to.includes('/core/') && roomOf(to) === roomOf(from)) return undefined
  return /^(base|kernel|wire)\//.test(to) ? undefined : `${from}: a core imports only base, kernel, wire and its own core (${to})`
}

function circles(files: readonly string[], imports: (path: string) => readonly string[]): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) { found.push([...trail.slice(trail.indexOf(path)), path].join(' -> ')); return }
    if (done.has(path)) return
    for (const next of imports(path)) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of files) visit(path, [])
  return found
}

const files = sourceFiles()
const imports = new Map(files.map((path) => [path, importsOf(path)]))
const all = [...imports.values()].flat()

describe('the rooms of the house', () => {
  it('every room of src is in layers.json', () => {
    const unknown = files.map(roomOf).filter((room) => !(room in layers.rooms) && !room.startsWith('plugins/'))
    expect([...new Set(unknown)]).toEqual([])
  })
  it('no file imports a room that its own may not know, types included', () => {
    expect(all.map(fault).filter((message) => message !== undefined)).toEqual([])
  })
  it('the core of a plugin imports nothing impure', () => {
    expect(all.map(corePurity).filter((message) => message !== undefined)).toEqual([])
  })
  it('no imports go in a circle', () => {
    const next = (path: string): string[] => (imports.get(path) ?? []).filter((each) => each.kind === 'file' && imports.has(each.to)).map((each) => each.to)
    expect(circles(files, next)).toEqual([])
  })
  it('these rules find faults', () => {
    expect(fault({ from: 'base/x.ts', to: 'kernel/index.ts', kind: 'file' })).toMatch(/may import nothing/)
    expect(fault({ from: 'plugins/dlq/x.ts', to: 'plugins/auth/y.ts', kind: 'file' })).toBeDefined()
    expect(fault({ from: 'wire/x.ts', to: 'node:fs', kind: 'package' })).toBeDefined()
    expect(fault({ from: 'broker/x.ts', to: 'inversify', kind: 'package' })).toBeDefined()
    expect(fault({ from: 'cli/x.ts', to: 'left-pad', kind: 'package' })).toMatch(/no room/)
    expect(corePurity({ from: 'plugins/dlq/core/x.ts', to: 'plugins/dlq/io/y.ts', kind: 'file' })).toBeDefined()
    expect(importsOf('kernel/x.ts', "import { type A } from '../base/a.ts'\nexport type B = import('./b.ts').B").map((each) => each.to)).toEqual(['base/a.ts', 'kernel/b.ts'])
    expect(circles(['a', 'b'], (path) => path === 'a' ? ['b'] : ['a'])).toHaveLength(1)
  })
})
