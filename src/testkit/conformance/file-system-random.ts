import { Prng } from '../../base/prng.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { MemoryFileSystem } from '../world/memory-file-system.ts'
import { claim, same, type FileSystemClaim, type FileSystemSubject } from './file-system-subject.ts'
import { checkEqual } from './kit.ts'

const steps = 400
const openMax = 8
/** Few, so that they meet; some lead through files, or nowhere. */
const names = ['a', 'b', 'ü b', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'd/e/f', 'a/x', 'none/a', 'g/h/i']
const modes = ['read', 'update', 'create', 'ensure'] as const

type Outcome = readonly [result: 'done', value: unknown] | readonly [result: 'failed', code: string]

/** One of the two file systems, and what is open on it, in the same order as on the other. */
interface Side {
  readonly files: FileSystem
  readonly at: (name: string) => string
  readonly open: File[]
  readonly settle: <T>(promise: Promise<T>) => Promise<T>
}

type Call = (side: Side) => unknown

/** The same calls, drawn by the seed, have the same outcomes here and on the simulated disk, and leave the same tree. */
export function randomFileClaim(seed: number): FileSystemClaim {
  return claim(`a random sequence of calls has the outcomes that the simulated disk gives, seed ${seed}`, async subject => {
    const prng = new Prng(seed)
    const simulated = new MemoryFileSystem()
    simulated.makeDirectory('/t')
    const sides = [sideOf(subject), sideOf({ files: simulated, directory: '/t' })] as const
    for (let step = 0; step < steps; step++) {
      const [what, call] = draw(prng, sides[1].open.length)
      const [found, expected] = [await outcomeOf(sides[0], call), await outcomeOf(sides[1], call)]
      checkEqual(found, expected, `seed ${seed}, step ${step}, ${what}`)
      if (step % 50 === 49) checkEqual(treeOf(sides[0], ''), treeOf(sides[1], ''), `seed ${seed}, the tree after step ${step}`)
    }
    for (const file of sides[0].open) file.close()
  })
}

function sideOf({ files, directory, settle = same }: FileSystemSubject): Side {
  return { files, at: name => name === '' ? directory : `${directory}/${name}`, open: [], settle }
}

async function outcomeOf(side: Side, call: Call): Promise<Outcome> {
  try {
    return ['done', await call(side)]
  } catch (error) {
    return ['failed', isMillraceError(error) ? error.code : String(error)]
  }
}

function draw(prng: Prng, open: number): readonly [what: string, call: Call] {
  const kind = prng.below(10)
  if (kind < 5 && open > 0) return onFile(prng, prng.below(open))
  return kind < 7 ? opening(prng, open) : onNames(prng)
}

function opening(prng: Prng, open: number): readonly [string, Call] {
  const name = prng.pick(names)
  const mode = prng.pick(modes)
  return [`open ${name} for ${mode}`, ({ files, at, open: list }) => {
    const file = files.open(at(name), mode)
    if (open >= openMax) list.shift()?.close()
    list.push(file)
    return file.size()
  }]
}

function onFile(prng: Prng, index: number): readonly [string, Call] {
  const position = prng.chance(0.1) ? prng.below(100_000) : prng.below(6000)
  const length = prng.below(prng.chance(0.2) ? 5000 : 100)
  const pieces = Array.from({ length: prng.below(4) }, () => prng.bytes(prng.below(prng.chance(0.2) ? 3000 : 50)))
  const read = (side: Side, later: boolean): unknown => {
    const file = side.open[index]!
    const target = new Uint8Array(length + 2).fill(7)
    if (!later) return [file.read(target, 1, length, position), target]
    const bytes = side.settle(new Promise<number>((resolve, reject) => {
      file.readLater(target, 1, length, position, (error, count) => { if (error === undefined) resolve(count); else reject(error as Error) })
    }))
    return bytes.then(count => [count, target.subarray(1, 1 + count)])
  }
  const calls: readonly (readonly [string, Call])[] = [
    [`write of ${pieces.map(piece => piece.length).join('+')} bytes at ${position}`, ({ open }) => open[index]!.write(pieces, position)],
    [`read of ${length} bytes at ${position}`, side => read(side, false)],
    [`read off the loop of ${length} bytes at ${position}`, side => read(side, true)],
    [`truncation to ${position}`, ({ open }) => open[index]!.truncate(position)],
    ['size', ({ open }) => open[index]!.size()],
    ['sync now', ({ open }) => open[index]!.syncNow()],
    ['sync', ({ open, settle }) => settle(new Promise<unknown>(resolve => open[index]!.sync(resolve)))],
    ['close', ({ open }) => open.splice(index, 1)[0]!.close()],
  ]
  const [what, call] = calls[prng.pick([0, 0, 0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 6, 7])]!
  return [`${what} of open file ${index}`, call]
}

function onNames(prng: Prng): readonly [string, Call] {
  const name = prng.pick(names)
  // What systems say of a rename onto a directory that the source is in differs.
  const to = prng.pick(names.filter(other => !`${name}/`.startsWith(`${other}/`) || other === name))
  const calls: readonly (readonly [string, Call])[] = [
    [`list ${name}`, ({ files, at }) => files.list(at(name))],
    [`stat ${name}`, ({ files, at }) => kindOf(files, at(name))],
    [`make directory ${name}`, ({ files, at }) => files.makeDirectory(at(name))],
    [`rename ${name} to ${to}`, ({ files, at }) => files.rename(at(name), at(to))],
    [`remove ${name}`, ({ files, at }) => files.remove(at(name))],
    [`sync directory ${name}`, ({ files, at }) => files.syncDirectory(at(name))],
  ]
  return calls[prng.pick([0, 1, 2, 3, 3, 3, 4, 5])]!
}

function kindOf(files: FileSystem, path: string): unknown {
  const found = files.stat(path)
  return found === undefined ? 'nothing' : found.kind === 'file' ? found.bytes : found.kind
}

/** Each name with what it is, in the order of the listing. */
function treeOf(side: Side, name: string): readonly unknown[] {
  return side.files.list(side.at(name)).flatMap(child => {
    const path = name === '' ? child : `${name}/${child}`
    const found = kindOf(side.files, side.at(path))
    if (found === 'directory') return [path, ...treeOf(side, path)]
    const file = side.files.open(side.at(path), 'read')
    const content = new Uint8Array(file.size())
    file.read(content, 0, content.length, 0)
    file.close()
    return [path, found, content]
  })
}
