import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { type PageCache } from '../../../kernel/ports/page-cache.ts'
import { readWhole } from './index-file.ts'

/**
 * What the page cache can be relied on for, at a start after a crash.
 *
 * - `intact`: the system has not gone down since the last process wrote here, and no sync failed: every byte that it wrote is there, though
 *   not on the disk; only its last write may have been cut off.
 * - `fresh`: the system has gone down, or the directory was copied, and no sync had failed before: what reads give is on the disk, or is written to it
 *   by the next sync.
 * - `doubtful`: nothing is known, or a sync has failed: reads may give what is not on the disk and no sync will ever write, as the system
 *   counts it as written (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020).
 */
export type FoundCache = 'intact' | 'fresh' | 'doubtful'

/**
 * Tells a process that died from a system that went down: a file of the data directory, which is never synced, says in which life of the page
 * cache, and as which file, it was written: see `PageCache`.
 */
export class CacheLife {
  private readonly files: FileSystem
  private readonly cache: PageCache
  private readonly path: string

  constructor(files: FileSystem, cache: PageCache, directory: string) {
    this.files = files
    this.cache = cache
    this.path = `${directory}/.millrace-cache-life`
  }

  /** From then on, and until `trust`, a crash leaves the cache doubtful, where it is not intact. */
  find(): FoundCache {
    const found = this.read()
    if (found !== 'intact') this.write('doubtful')
    return found
  }

  /** All that is in the directory was checked and synced in this life. */
  trust(): void {
    if (this.read() !== 'intact') this.write('sound')
  }

  doubt(): void {
    try {
      this.write('doubtful')
    } catch {
      this.files.remove(this.path)
    }
  }

  private read(): FoundCache {
    const bytes = this.files.stat(this.path)?.kind === 'file' ? readWhole(this.files, this.path) : undefined
    const [, life, state] = /^version=0\ncache\.life=(.+)\ncache=(sound|doubtful)\n$/.exec(new TextDecoder().decode(bytes)) ?? []
    if (life === undefined) return 'doubtful'
    // Whatever has gone down since, or only seems to have: a container may show another boot id over the same page cache.
    if (state === 'doubtful') return 'doubtful'
    return life === this.cache.cacheLife(this.path) ? 'intact' : 'fresh'
  }

  /** A crash between the two steps leaves a file that says nothing. */
  private write(state: 'sound' | 'doubtful'): void {
    const kind = this.files.stat(this.path)?.kind
    if (kind !== undefined && kind !== 'file') return
    const file = this.files.open(this.path, 'ensure')
    try {
      file.truncate(0)
      const life = this.cache.cacheLife(this.path)
      if (life !== undefined) file.write([new TextEncoder().encode(`version=0\ncache.life=${life}\ncache=${state}\n`)], 0)
    } finally {
      file.close()
    }
  }
}
