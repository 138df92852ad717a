import { deferred } from '../../../../src/base/deferred.ts'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type KeyRange, type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../../../../src/kernel/ports/key-value-store.ts'

const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes)
const bytesOf = (key: string): Uint8Array => Uint8Array.from(key, (character) => character.charCodeAt(0))

/**
 * Key-value stores in memory that survive the death of the process that uses them. The process dies at the write that a test names: the
 * write is carried out or not, and nothing is answered any more.
 */
export class CrashDisk {
  /** By path, then key as text. */
  readonly stores = new Map<string, Map<string, Uint8Array>>()
  writes = 0
  private crashAt = Infinity
  private carriedOut = false
  private crash = deferred()

  /** A process with this disk; the one before is dead. `crashAt` counts writes from 1. */
  boot(crashAt = Infinity, carriedOut = false): { engine: KeyValueEngine, crashed: Promise<void> } {
    this.writes = 0
    this.crashAt = crashAt
    this.carriedOut = carriedOut
    this.crash = deferred()
    const crash = this.crash
    const open = new Set<string>()
    const alive = (): boolean => crash === this.crash && this.writes < this.crashAt
    const engine: KeyValueEngine = {
      takesSpace: false,
      open: (path) => {
        if (open.has(path)) return Promise.reject(new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path }))
        open.add(path)
        let entries = this.stores.get(path)
        if (entries === undefined) this.stores.set(path, entries = new Map())
        return Promise.resolve(this.store(entries, alive, () => open.delete(path)))
      },
    }
    return { engine, crashed: crash.promise }
  }

  private store(entries: Map<string, Uint8Array>, alive: () => boolean, closed: () => void): KeyValueStore {
    const dead = new Promise<never>(() => {})
    return {
      get: (key) => (alive() ? Promise.resolve(entries.get(text(key))?.slice()) : dead),
      range: ({ from, to, limit, reverse = false }: KeyRange) => {
        if (!alive()) return dead
        const keys = [...entries.keys()].filter((key) => key >= text(from) && key < text(to)).sort()
        if (reverse) keys.reverse()
        return Promise.resolve(keys.slice(0, limit).map((key) => [bytesOf(key), entries.get(key)!.slice()] as const))
      },
      write: (puts: readonly KeyValuePut[]) => {
        if (!alive()) return dead
        this.writes++
        const dies = this.writes === this.crashAt
        if (!dies || this.carriedOut) {
          for (const { key, value } of puts) {
            if (value === undefined) entries.delete(text(key))
            else entries.set(text(key), value.slice())
          }
        }
        if (!dies) return Promise.resolve()
        this.crash.resolve()
        return dead
      },
      close: () => {
        closed()
        return Promise.resolve()
      },
    }
  }
}
