import { type Prng } from '../../src/base/prng.ts'
import { type MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'

/** One thing that happens to a disk between two processes. */
export interface Damage {
  readonly what: string
  /** Files whose bytes are no longer what they were. */
  readonly paths: readonly string[]
  apply(files: MemoryFileSystem): void
}

/** Every file of a data directory with bytes in it, by path. */
export function filesOf(files: MemoryFileSystem, directory = '/data'): readonly { readonly path: string, readonly bytes: number }[] {
  return files.list(directory).flatMap(name => {
    const path = `${directory}/${name}`
    const stat = files.stat(path)!
    if (stat.kind === 'directory') return filesOf(files, path)
    return stat.bytes > 0 ? [{ path, bytes: stat.bytes }] : []
  })
}

/** Files that are read as a whole, and mostly zeroes: not each of their bytes is worth a case. */
const isRedo = (path: string): boolean => path.endsWith('.redo') || path.includes('millrace-reserve')

/** One bit of each byte of each file: which one, chance says. */
export function flipsOf(files: MemoryFileSystem, prng: Prng): Damage[] {
  return filesOf(files).flatMap(({ path, bytes }) => {
    const positions = isRedo(path) ? Array.from({ length: 200 }, () => prng.below(Math.min(bytes, 8192))) : Array.from({ length: bytes }, (_, index) => index)
    return positions.map((position): Damage => {
      const bit = prng.below(8)
      return { what: `bit ${bit} of byte ${position} of ${path} flipped`, paths: [path], apply: disk => { disk.damage.flipBit(path, position, bit) } }
    })
  })
}

/** Blocks that are zeroed, hold other bytes of the disk, have changed places, or were never written. */
export function drawBlock(files: MemoryFileSystem, prng: Prng): Damage {
  const all = filesOf(files)
  const blockBytes = prng.pick([16, 64, 512, 4096])
  const place = (): { readonly path: string, readonly position: number } => {
    const { path, bytes } = prng.pick(all)
    return { path, position: prng.below(Math.ceil(bytes / blockBytes)) * blockBytes }
  }
  const one = place()
  const other = place()
  const at = ({ path, position }: typeof one): string => `${path} at ${position}`
  switch (prng.below(6)) {
    case 0: return { what: `${blockBytes} bytes of ${at(one)} zeroed`, paths: [one.path], apply: disk => { disk.damage.zeroBlock(one.path, one.position, blockBytes) } }
    case 1: return { what: `${blockBytes} bytes of ${at(one)} are those of before`, paths: [one.path], apply: disk => { disk.damage.staleBlock(one.path, one.position, blockBytes) } }
    case 2: return {
      what: `${blockBytes} bytes of ${at(one)} and ${at(other)} swapped`, paths: [one.path, other.path],
      apply: disk => { disk.damage.swapBlocks(one, other, blockBytes) },
    }
    case 3: return { what: `${at(one)} has ${blockBytes} bytes of ${at(other)}`, paths: [one.path], apply: disk => { disk.damage.overwrite(one.path, one.position, bytesAt(disk, other, blockBytes)) } }
    case 4: return { what: `${one.path} cut off at ${one.position}`, paths: [one.path], apply: disk => { disk.damage.truncate(one.path, one.position) } }
    default: {
      // A read or write that went to the same place of another file of this kind.
      const kind = one.path.replace(/^.*\//, '')
      const twin = prng.pick(all.filter(({ path }) => path.endsWith(kind.slice(kind.lastIndexOf('.')))))
      const position = one.position < twin.bytes ? one.position : 0
      return {
        what: `${at(one)} has ${blockBytes} bytes of ${twin.path} at ${position}`, paths: [one.path],
        apply: disk => { disk.damage.overwrite(one.path, one.position, bytesAt(disk, { path: twin.path, position }, blockBytes)) },
      }
    }
  }
}

function bytesAt(files: MemoryFileSystem, { path, position }: { readonly path: string, readonly position: number }, length: number): Uint8Array {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(length)
  const found = bytes.subarray(0, file.read(bytes, 0, length, position))
  file.close()
  return found
}
