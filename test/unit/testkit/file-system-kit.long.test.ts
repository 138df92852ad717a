import { describe, expect, test } from 'vitest'
import { type File, type FileSystem } from '../../../src/kernel/ports/file-system.ts'
import { fileSystemConformance } from '../../../src/testkit/conformance/file-system.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'

type Break = (files: MemoryFileSystem) => Partial<FileSystem>

/** A memory file system with some methods replaced. */
const broken = (replace: Break, breakFile?: (file: File) => Partial<File>) => () => failuresOf(declare => {
  fileSystemConformance({
    test: declare,
    create: () => {
      const real = new MemoryFileSystem()
      real.makeDirectory('/d')
      real.syncDirectory('/')
      const files = over<FileSystem>(real, {
        open: (path, mode) => {
          const file = real.open(path, mode)
          return breakFile === undefined ? file : over(file, breakFile(file))
        },
        ...replace(real),
      })
      return { files, directory: '/d', powerCut: () => real.afterCrash({ keepUnsynced: 'none' }) }
    },
  })
})

/** The same object with some methods of its own. */
function over<T extends object>(real: T, replaced: Partial<T>): T {
  return new Proxy(real, {
    get: (target, name) => {
      const found: unknown = name in replaced ? Reflect.get(replaced, name) : Reflect.get(target, name)
      return typeof found === 'function' && !(name in replaced) ? found.bind(target) as unknown : found
    },
  })
}

const none: Break = () => ({})

describe('fileSystemConformance', () => {
  test('an unbroken file system passes', async () => {
    expect(await broken(none)()).toEqual([])
  })

  const cases: Readonly<Record<string, () => Promise<string[]>>> = {
    'create opens what exists': broken(real => ({ open: (path, mode) => real.open(path, mode === 'create' ? 'ensure' : mode) })),
    'ensure empties what exists': broken(real => ({
      open: (path, mode) => {
        const file = real.open(path, mode)
        if (mode === 'ensure') file.truncate(0)
        return file
      },
    })),
    'names come unsorted': broken(real => ({ list: path => real.list(path).reverse() })),
    'stat throws for nothing': broken(real => ({
      stat: path => {
        const found = real.stat(path)
        if (found === undefined) real.list(path)
        return found
      },
    })),
    'rename copies': broken(real => ({
      rename: (from, to) => {
        const source = real.open(from, 'read')
        const content = new Uint8Array(source.size())
        source.read(content, 0, content.length, 0)
        const target = real.open(to, 'ensure')
        target.truncate(0)
        target.write([content], 0)
      },
    })),
    'remove refuses what is not there': broken(real => ({
      remove: path => {
        if (real.stat(path) === undefined) real.list(path)
        real.remove(path)
      },
    })),
    'pieces are kept by reference': broken(none, file => {
      const late: (readonly [readonly Uint8Array[], number])[] = []
      const flush = (): void => {
        for (const [pieces, position] of late.splice(0)) file.write(pieces, position)
      }
      return {
        write: (pieces, position) => void late.push([pieces, position]),
        size: () => (flush(), file.size()),
        read: (target, at, length, position) => (flush(), file.read(target, at, length, position)),
        close: () => (flush(), file.close()),
      }
    }),
    'only the first piece is written': broken(none, file => ({ write: (pieces, position) => file.write(pieces.slice(0, 1), position) })),
    'a read ignores its place in the target': broken(none, file => ({
      read: (target, _at, length, position) => file.read(target, 0, length, position),
    })),
    'truncate does not lengthen': broken(none, file => ({
      truncate: bytes => {
        if (bytes < file.size()) file.truncate(bytes)
      },
    })),
    'sync answers before it returns': broken(none, file => ({
      sync: done => {
        file.syncNow()
        done(undefined)
      },
    })),
    'sync answers without syncing': broken(none, () => ({ sync: done => queueMicrotask(() => done(undefined)) })),
    'sync answers twice': broken(none, file => ({
      sync: done => file.sync(error => {
        done(error)
        done(error)
      }),
    })),
    'a read off the loop answers at once': broken(none, file => ({
      readLater: (target, at, length, position, done) => done(undefined, file.read(target, at, length, position)),
    })),
    'closing twice throws': broken(none, file => {
      let closed = false
      return {
        close: () => {
          if (closed) throw new Error('closed already')
          closed = true
          file.close()
        },
      }
    }),
    'the directory is not synced': broken(() => ({ syncDirectory: () => {} })),
    'errors are those of the system': broken(real => ({
      open: (path, mode) => {
        try {
          return real.open(path, mode)
        } catch {
          throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
        }
      },
    })),
    'a rename onto itself takes the file away': broken(real => ({
      rename: (from, to) => {
        real.rename(from, to)
        if (from === to) real.remove(from)
      },
    })),
    'a closed file goes on': broken(none, () => ({ close: () => {} })),
    'an open file is looked up by its name': broken(real => ({
      open: (path, mode) => {
        const file = real.open(path, mode)
        return over(file, { write: (pieces, position) => real.open(path, 'ensure').write(pieces, position) })
      },
    })),
    'long names are cut': broken(real => ({ open: (path, mode) => real.open(path.replace(/(x{255})x+$/, '$1'), mode) })),
    'names are compared without their accents': broken(real => ({
      open: (path, mode) => real.open(path.normalize('NFD').replace(/[\u0300-\u036f]/g, ''), mode),
    })),
    'a directory is opened as an empty file': broken(real => ({
      open: (path, mode) => {
        if (mode !== 'read' || real.stat(path)?.kind !== 'directory') return real.open(path, mode)
        return real.open(`${path}/../empty`, 'ensure')
      },
    })),
    'what is below a file is an error to stat': broken(real => ({
      stat: path => {
        if (real.stat(path.slice(0, path.lastIndexOf('/')))?.kind === 'file') real.list(path)
        return real.stat(path)
      },
    })),
    'a truncation that lengthens brings old bytes back': broken(none, file => {
      let cut = new Uint8Array(0)
      return {
        truncate: size => {
          const before = file.size()
          if (size < before) {
            cut = new Uint8Array(before - size)
            file.read(cut, 0, cut.length, size)
            return file.truncate(size)
          }
          file.write([cut.subarray(0, size - before)], before)
          file.truncate(size)
        },
      }
    }),
    'a removal takes a directory only when it is empty': broken(real => ({
      remove: path => {
        if (real.stat(path)?.kind === 'directory' && real.list(path).length > 0) real.list(`${path}/none`)
        real.remove(path)
      },
    })),
    // So seldom that no claim but a random sequence meets it.
    'a write of 31 bytes or so loses its last': broken(none, file => ({
      write: (pieces, position) => {
        const total = pieces.reduce((sum, piece) => sum + piece.length, 0)
        if (pieces.length !== 2 || total < 25 || total > 40) return file.write(pieces, position)
        file.write([pieces[0]!, pieces[1]!.subarray(0, -1)], position)
      },
    })),
    'free bytes are zero': broken(() => ({ space: () => ({ freeBytes: 0, totalBytes: 1 }) })),
    'more is free than there is': broken(() => ({ space: () => ({ freeBytes: 2, totalBytes: 1 }) })),
  }
  for (const [defect, run] of Object.entries(cases)) {
    test(`a file system fails where ${defect}`, async () => {
      expect(await run()).not.toEqual([])
    })
  }
})
