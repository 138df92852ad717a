import { resolve } from 'node:path'
import { MillraceError } from '../kernel/errors/millrace-error.ts'
import { type KeyRange, type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../kernel/ports/key-value-store.ts'

/** Stores that live as long as this process: for compositions that keep nothing. */
export class VolatileKeyValueEngine implements KeyValueEngine {
  readonly takesSpace = false
  readonly #contents = new Map<string, Map<string, Uint8Array>>()
  readonly #open = new Set<string>()

  async open(name: string, { create = true }: { readonly create?: boolean } = {}): Promise<KeyValueStore> {
    const path = resolve(name)
    if (this.#open.has(path)) throw new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path })
    if (!create && !this.#contents.has(path)) throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'open', path })
    this.#open.add(path)
    const entries = this.#contents.get(path) ?? new Map<string, Uint8Array>()
    this.#contents.set(path, entries)
    return new VolatileKeyValueStore(path, entries, () => { this.#open.delete(path) })
  }
}

/** Keys are held as hex text, whose order is that of the bytes. */
class VolatileKeyValueStore implements KeyValueStore {
  readonly #entries: Map<string, Uint8Array>
  readonly #path: string
  readonly #onClose: () => void
  #closed = false

  constructor(path: string, entries: Map<string, Uint8Array>, onClose: () => void) {
    this.#path = path
    this.#entries = entries
    this.#onClose = onClose
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#checkOpen()
    return this.#entries.get(hex(key))?.slice()
  }

  async range({ from, to, limit, reverse }: KeyRange): Promise<readonly (readonly [Uint8Array, Uint8Array])[]> {
    this.#checkOpen()
    const [low, high] = [hex(from), hex(to)]
    const keys = [...this.#entries.keys()].filter((key) => key >= low && key < high).sort()
    if (reverse === true) keys.reverse()
    return keys.slice(0, limit).map((key) => [bytesOf(key), this.#entries.get(key)!.slice()] as const)
  }

  async write(puts: readonly KeyValuePut[]): Promise<void> {
    this.#checkOpen()
    for (const { key, value } of puts) {
      if (value === undefined) this.#entries.delete(hex(key))
      else this.#entries.set(hex(key), value.slice())
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#onClose()
  }

  #checkOpen(): void {
    if (this.#closed) throw new MillraceError('MR_FILE_FAILED', { operation: 'use', path: this.#path, reason: 'the store is closed' })
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
const bytesOf = (key: string): Uint8Array => new Uint8Array(Buffer.from(key, 'hex'))
