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
    'free bytes are zero': broken(() => ({ freeBytes: () => 0 })),
  }
  for (const [defect, run] of Object.entries(cases)) {
    test(`a file system fails where ${defect}`, async () => {
      expect(await run()).not.toEqual([])
    })
  }
})
