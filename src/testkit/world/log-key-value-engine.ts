import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { crc32c } from '../../base/crc32c.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type KeyRange, type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../../kernel/ports/key-value-store.ts'
import { normalPath } from './memory-path.ts'
import { SortedBytesMap } from './sorted-bytes-map.ts'

const logName = 'store.log'
const headerBytes = 8

/**
 * Key-value stores in files of a FileSystem, a log of batches each, which is as lenient as LevelDB's: a batch that fails its checksum is
 * dropped without a word, as is whatever comes after one whose length makes no sense. On a simulated disk a store is torn, loses its end
 * and rots with the other files, and is renamed with its directory.
 */
export class LogKeyValueEngine implements KeyValueEngine {
  readonly takesSpace = true
  private readonly files: FileSystem
  private readonly locked = new Set<string>()

  constructor(files: FileSystem) {
    this.files = files
  }

  async open(path: string, { create = true }: { readonly create?: boolean } = {}): Promise<KeyValueStore> {
    const place = normalPath(path)
    const { files, locked } = this
    const log = `${place}/${logName}`
    if (locked.has(place)) throw new MillraceError('MR_LOG_DIRECTORY_LOCKED', { path })
    const isThere = files.stat(log) !== undefined
    if (!isThere && !create) throw new MillraceError('MR_FILE_NOT_FOUND', { operation: 'open', path })
    locked.add(place)
    try {
      if (!isThere) makeDurably(files, place, log)
      const file = files.open(log, 'update')
      const content = new SortedBytesMap()
      const end = replay(file, content)
      file.truncate(end)
      return new LogKeyValueStore(path, file, end, content, () => locked.delete(place))
    } catch (error) {
      locked.delete(place)
      throw error
    }
  }
}

class LogKeyValueStore implements KeyValueStore {
  private readonly path: string
  private readonly file: File
  private end: number
  private readonly content: SortedBytesMap
  private readonly released: () => void
  private failure: MillraceError | undefined
  private closing: Promise<void> | undefined
  private readonly pending = new Set<Promise<void>>()

  constructor(path: string, file: File, end: number, content: SortedBytesMap, released: () => void) {
    this.path = path
    this.file = file
    this.end = end
    this.content = content
    this.released = released
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.checkOpen()
    return this.content.get(key)?.slice()
  }

  async range(range: KeyRange): Promise<readonly (readonly [Uint8Array, Uint8Array])[]> {
    this.checkOpen()
    return this.content.range(range).map(([key, value]) => [key.slice(), value.slice()] as const)
  }

  /** A failed write ends the store, as LevelDB's does. */
  async write(puts: readonly KeyValuePut[], { sync }: { readonly sync: boolean }): Promise<void> {
    this.checkOpen()
    if (this.failure !== undefined) throw this.failure
    try {
      const batch = encodeBatch(puts)
      this.file.write([batch], this.end)
      this.end += batch.length
      for (const { key, value } of puts) this.content.apply({ key: key.slice(), value: value?.slice() })
      if (!sync) return
      const done = new Promise<void>((resolve, reject) => {
        this.file.sync((error) => { if (error === undefined) resolve(); else reject(error as Error) })
      })
      const settled = done.catch(() => {})
      this.pending.add(settled)
      await done
      this.pending.delete(settled)
    } catch (error) {
      if (isMillraceError(error)) this.failure = error
      throw error
    }
  }

  close(): Promise<void> {
    this.closing ??= Promise.all(this.pending).then(() => {
      this.file.close()
      this.released()
    })
    return this.closing
  }

  private checkOpen(): void {
    if (this.closing !== undefined) throw new MillraceError('MR_FILE_FAILED', { operation: 'use', path: this.path, reason: 'the store is closed' })
  }
}

/** batch = length(4) CRC-32C(4) put*; put = key length(uvarint) key, value length + 1(uvarint) value, or 0 for a removal. */
function encodeBatch(puts: readonly KeyValuePut[]): Uint8Array {
  const writer = new BytesWriter()
  writer.uint32(0)
  writer.uint32(0)
  for (const { key, value } of puts) {
    writer.uvarint(key.length)
    writer.raw(key)
    writer.uvarint(value === undefined ? 0 : value.length + 1)
    if (value !== undefined) writer.raw(value)
  }
  writer.patchUint32(0, writer.position - headerBytes)
  writer.patchUint32(4, crc32c(writer.bytes, headerBytes, writer.position))
  return writer.finish()
}

/** Applies what can be read. Gives where the next batch goes. */
function replay(file: File, content: SortedBytesMap): number {
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  const reader = new BytesReader(bytes)
  while (reader.remaining >= headerBytes) {
    const start = reader.position
    const length = reader.uint32()
    const crc = reader.uint32()
    if (length > reader.remaining) return start
    const end = reader.position + length
    if (crc32c(bytes, reader.position, end) === crc) apply(new BytesReader(bytes, reader.position, end), content)
    reader.skip(length)
  }
  return reader.position
}

function apply(reader: BytesReader, content: SortedBytesMap): void {
  while (reader.remaining > 0) {
    const key = reader.slice(reader.uvarint()).slice()
    const length = reader.uvarint()
    content.apply({ key, value: length === 0 ? undefined : reader.slice(length - 1).slice() })
  }
}

function makeDurably(files: FileSystem, place: string, log: string): void {
  files.makeDirectory(place)
  files.open(log, 'ensure').close()
  const parts = place.split('/').filter((part) => part !== '')
  for (let count = parts.length; count >= 0; count--) files.syncDirectory(`/${parts.slice(0, count).join('/')}`)
}
