import { assert } from '../../base/assert.ts'
import { type File } from '../../kernel/ports/file-system.ts'
import { damageRead, type OtherPlace } from './block-damage.ts'
import { nothingUnsynced, byChance } from './crash-choice.ts'
import { type DiskFile } from './disk-file.ts'
import { FaultCounts } from './fault-counts.ts'
import { fileFailure, type FailingCall, type FileOperation, type Hit, type WriteDamageFault } from './file-faults.ts'
import { type MemoryDisk } from './memory-disk.ts'

/** An open file of a MemoryFileSystem. Like a descriptor it outlives a rename or removal of its name. */
export class MemoryFile implements File {
  readonly path: string
  private readonly content: DiskFile
  private readonly disk: MemoryDisk
  private readonly writable: boolean
  private readonly fileAt: (path: string) => DiskFile | undefined
  private closed = false

  constructor(path: string, content: DiskFile, disk: MemoryDisk, { writable, fileAt }: {
    readonly writable: boolean, readonly fileAt: (path: string) => DiskFile | undefined,
  }) {
    this.path = path
    this.content = content
    this.disk = disk
    this.writable = writable
    this.fileAt = fileAt
  }

  size(): number {
    this.begin({ kind: 'size', path: this.path })
    return this.content.size
  }

  read(target: Uint8Array, at: number, length: number, position: number): number {
    assert(at >= 0 && at + length <= target.length, 'a read stays inside its target')
    const hit = this.begin({ kind: 'read', path: this.path, bytes: length, position })
    return this.readHit(hit, target, at, length, position)
  }

  /** The bytes are those of the moment of completion, and `target` holds rubbish until then: nobody may look early. */
  readLater(
    target: Uint8Array, at: number, length: number, position: number, done: (error: unknown, bytes: number) => void,
  ): void {
    this.assertOpen()
    assert(at >= 0 && at + length <= target.length, 'a read stays inside its target')
    const hit = this.disk.begin({ kind: 'read', path: this.path, bytes: length, position })
    target.fill(0xa5, at, at + length)
    this.disk.later('read', hit.delayMs, () => {
      if (hit.failing !== undefined) done(hit.failing.error, 0)
      else done(undefined, this.readHit(hit, target, at, length, position))
    })
  }

  write(pieces: readonly Uint8Array[], position: number): void {
    this.assertOpen()
    let total = 0
    for (const piece of pieces) total += piece.length
    const operation: FileOperation = { kind: 'write', path: this.path, bytes: total, position }
    const { failing, damage, happened } = this.disk.begin(operation)
    if (!this.writable && total > 0) throw fileFailure('EBADF', operation)
    if (failing !== undefined) {
      this.writePrefix(this.content, pieces, position, failing.keptBytes)
      throw failing.error
    }
    const place = damage?.operation === 'write' && total > 0 ? this.wrongPlace(damage, position) : undefined
    if (place !== undefined) happened!()
    if (place === 'nowhere') return
    const { file, position: start } = place ?? { file: this.content, position }
    const room = this.disk.freeBytes - Math.max(0, start + total - file.size)
    if (room < 0) {
      this.writePrefix(file, pieces, start, Math.max(0, total + room))
      this.disk.faults.counts.add('write: disk full')
      throw fileFailure('ENOSPC', operation)
    }
    this.writePrefix(file, pieces, start, total)
  }

  sync(done: (error: unknown) => void): void {
    this.assertOpen()
    const hit = this.disk.begin({ kind: 'sync', path: this.path })
    const mark = this.content.mark()
    this.disk.later('sync', hit.delayMs, () => {
      this.endSync(mark, hit)
      done(hit.failing?.error)
    })
  }

  syncNow(): void {
    const hit = this.beginAnyway({ kind: 'sync', path: this.path })
    this.endSync(this.content.mark(), hit)
    if (hit.failing !== undefined) throw hit.failing.error
  }

  truncate(bytes: number): void {
    const operation: FileOperation = { kind: 'truncate', path: this.path, bytes }
    this.begin(operation)
    if (!this.writable) throw fileFailure('EINVAL', operation)
    this.disk.grew(this.content, bytes - this.content.size)
    if (bytes < this.content.size) this.disk.remember(this.content)
    this.content.truncate(bytes, this.disk.next())
    this.content.modifiedMs = this.disk.nowMs()
  }

  close(): void {
    this.closed = true
  }

  private readHit({ damage, happened }: Hit, target: Uint8Array, at: number, length: number, position: number): number {
    const bytes = this.content.read(target, at, length, position)
    if (damage?.operation !== 'read') return bytes
    const { disk, content: file } = this
    const elsewhere = (): OtherPlace | undefined => damage.from === undefined ? disk.elsewhere(file, position) : this.placeAt(damage.from)
    const source = { prng: disk.faults.prng, blockBytes: disk.blockBytes, file, elsewhere }
    if (damageRead({ target, at, position, bytes }, damage, source)) happened!()
    return bytes
  }

  private endSync(mark: number, { failing, damage, happened }: Hit): void {
    if (damage !== undefined) return happened!()
    this.disk.version++
    if (failing === undefined) this.content.syncTo(mark)
    else this.failSync(mark, failing)
  }

  private failSync(mark: number, { blocks }: FailingCall): void {
    const { disk } = this
    const first = this.content.changes()[0]?.number ?? mark
    const choice = blocks === 'some' ? byChance(disk.faults.prng, { first, last: mark, garbage: false }) : nothingUnsynced
    const before = this.content.size
    // No crash, so it counts as none.
    this.content.failTo(mark, blocks, { ...disk.crash(choice, disk.blockBytes), counts: new FaultCounts() })
    disk.grew(this.content, this.content.size - before)
  }

  private wrongPlace(fault: WriteDamageFault, position: number): OtherPlace | 'nowhere' | undefined {
    if (fault.damage === 'lost') return 'nowhere'
    return fault.to === undefined ? this.disk.elsewhere(this.content, position) : this.placeAt(fault.to)
  }

  private placeAt({ path, position }: { readonly path: string, readonly position: number }): OtherPlace | undefined {
    const file = this.fileAt(path)
    return file === undefined ? undefined : { file, position }
  }

  /** One change, however many pieces there are. */
  private writePrefix(file: DiskFile, pieces: readonly Uint8Array[], position: number, length: number): void {
    const bytes = new Uint8Array(length)
    let filled = 0
    for (const piece of pieces) {
      const taken = Math.min(length - filled, piece.length)
      bytes.set(taken === piece.length ? piece : piece.subarray(0, taken), filled)
      filled += taken
    }
    const before = file.size
    if (length > 0) file.write(bytes, position, this.disk.next())
    file.modifiedMs = this.disk.nowMs()
    this.disk.grew(file, file.size - before)
  }

  private begin(operation: FileOperation): Hit {
    const hit = this.beginAnyway(operation)
    if (hit.failing !== undefined) throw hit.failing.error
    return hit
  }

  private beginAnyway(operation: FileOperation): Hit {
    this.assertOpen()
    return this.disk.begin(operation)
  }

  private assertOpen(): void {
    assert(!this.closed, `${this.path} is not used after it was closed`)
  }
}
