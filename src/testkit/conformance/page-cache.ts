import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type PageCache } from '../../kernel/ports/page-cache.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** A page cache with the files that it is about. */
export interface PageCacheSubject {
  readonly cache: PageCache
  readonly files: FileSystem
  /** Empty, and there. */
  readonly directory: string
  /** Whether it can tell on this machine. One that cannot says undefined of every file, and is examined no further. */
  readonly tells: boolean
  /** What another process finds while this one runs, or when it has ended. Default: the same. */
  readonly another?: () => PageCache
  /** Cuts the power, and gives what a new process finds; the file systems before it are gone. */
  readonly powerCut?: () => PageCache
  readonly dispose?: () => void
}

/** A PageCache to examine. */
export interface PageCacheConformance {
  readonly test: DeclareTest
  readonly create: () => PageCacheSubject
}

const contents = new TextEncoder().encode('contents')

/** What every PageCache promises. */
export function pageCacheConformance({ test, create }: PageCacheConformance): void {
  const claim = (title: string, body: (subject: PageCacheSubject, at: (name: string) => string) => void): void => {
    test(title, async () => {
      const subject = create()
      try {
        body(subject, name => `${subject.directory}/${name}`)
      } finally {
        subject.dispose?.()
      }
    })
  }
  const write = ({ files }: PageCacheSubject, path: string): void => {
    const file = files.open(path, 'ensure')
    file.write([contents], file.size())
    file.syncNow()
    file.close()
  }

  claim('what is no file has no life: nothing there, and a directory', ({ cache, directory }, at) => {
    checkEqual([cache.cacheLife(at('none')), cache.cacheLife(at('none/none')), cache.cacheLife(directory)], [undefined, undefined, undefined], 'their lives')
  })
  claim('a file has one where that can be told, and the same for every process, whatever is written to it', (subject, at) => {
    const { cache, tells, another = () => cache } = subject
    write(subject, at('file'))
    const life = cache.cacheLife(at('file'))
    checkEqual(life !== undefined, tells, 'whether it is told')
    write(subject, at('file'))
    checkEqual([cache.cacheLife(at('file')), another().cacheLife(at('file'))], [life, life], 'its life, later')
  })
  claim('another file has another, a copy under the same name too', (subject, at) => {
    const { cache, files, tells } = subject
    if (!tells) return
    write(subject, at('file'))
    const life = cache.cacheLife(at('file'))
    write(subject, at('copy'))
    check(cache.cacheLife(at('copy')) !== life, 'a copy has a life of its own')
    files.rename(at('copy'), at('file'))
    check(cache.cacheLife(at('file')) !== life, 'a copy in the place of the file has not the life of the file')
  })
  claim('a power cut begins another', (subject, at) => {
    const { cache, files, directory, tells, powerCut } = subject
    if (!tells || powerCut === undefined) return
    write(subject, at('file'))
    files.syncDirectory(directory)
    const life = cache.cacheLife(at('file'))
    const after = powerCut().cacheLife(at('file'))
    check(after !== undefined && after !== life, `it was ${life}, and is ${after}`)
  })
}
