import { applyChange, crashedContent, type CrashOfDisk, type DiskChange } from './disk-change.ts'
import { type DiskContent } from './disk-content.ts'

/** Synced contents that are remembered for blocks that come back stale. */
const earlierMax = 4

/** What a failed sync does to the blocks that it should have written. All of them count as written from then on. */
export type FailedSyncBlocks =
  /** Readers go on seeing them; the disk has the old ones. */
  | 'keep'
  /** They are read from the disk again: readers see the old ones too. */
  | 'drop'
  /** As `keep`, and some of them have reached the disk, by chance. */
  | 'some'

/** The content of one file: what reads see, what the disk holds, and the changes between the two in their order. */
export class DiskFile {
  readonly kind = 'file'
  modifiedMs: number
  /** Names that it has. Without one its bytes no longer count; open files may still use it. */
  links = 0
  /** Of the change that made it: no other file of the disk has it. */
  number = 0
  private current: DiskContent
  private durable: DiskContent
  private unsynced: DiskChange[] = []
  /** The disk has not what readers see, beyond what was not synced: a sync has failed. */
  private differs = false
  /** Never changed, so that forks share them. */
  private readonly earlier: DiskContent[] = []

  constructor(content: DiskContent, modifiedMs: number) {
    this.current = content
    this.durable = content.copy()
    this.modifiedMs = modifiedMs
  }

  get size(): number {
    return this.current.size
  }

  get unsyncedChanges(): number {
    return this.unsynced.length
  }

  /** Numbers of the changes that a power cut could take. */
  changes(): readonly DiskChange[] {
    return this.unsynced
  }

  read(target: Uint8Array, at: number, length: number, position: number): number {
    return this.current.read(target, at, length, position)
  }

  /** What the disk holds, without what was not synced. */
  syncedContent(): DiskContent {
    return this.durable
  }

  /** The file as the disk held it some syncs ago, newest first; empty if it was not synced more than once. */
  earlierContents(): readonly DiskContent[] {
    return this.earlier
  }

  content(): DiskContent {
    return this.current.copy()
  }

  /** The bytes, one at least, are the file's from then on. */
  write(bytes: Uint8Array, position: number, number: number): void {
    this.current.write(bytes, position, true)
    this.unsynced.push({ number, kind: 'write', position, bytes })
  }

  truncate(bytes: number, number: number): void {
    this.current.truncate(bytes)
    this.unsynced.push({ number, kind: 'truncate', bytes })
  }

  /** Names the changes made so far, for `syncTo` and `failTo`. */
  mark(): number {
    return this.unsynced.at(-1)?.number ?? 0
  }

  /** Changes up to the mark are on the disk. */
  syncTo(mark: number): void {
    const changes = this.takeTo(mark)
    if (changes.length === 0) return
    this.remember()
    if (this.unsynced.length === 0 && !this.differs) this.durable = this.current.copy()
    else for (const change of changes) applyChange(this.durable, change)
  }

  /** A failed sync. No later one writes these blocks, and it may well succeed; a power cut takes them. */
  failTo(mark: number, blocks: FailedSyncBlocks, crash: CrashOfDisk): void {
    const changes = this.takeTo(mark)
    if (changes.length > 0 && blocks !== 'drop') this.differs = true
    if (blocks === 'some') this.durable = crashedContent(this.durable, changes, crash)
    if (blocks !== 'drop') return
    this.differs = false
    this.current = this.durable.copy()
    for (const change of this.unsynced) applyChange(this.current, change)
  }

  /**
   * Damage on the medium: to what readers see, what the disk holds, and what is on its way there. `change` gets bytes of the range and the
   * position at which they lie, as often as it takes.
   */
  damage(position: number, length: number, change: (bytes: Uint8Array, position: number) => void): void {
    // What `change` makes of the bytes may hang on them.
    this.differs = true
    for (const content of [this.current, this.durable]) {
      const bytes = content.slice(position, Math.max(0, Math.min(length, content.size - position)))
      change(bytes, position)
      content.write(bytes, position)
    }
    this.unsynced = this.unsynced.map(write => {
      if (write.kind !== 'write') return write
      const from = Math.max(position, write.position)
      const to = Math.min(position + length, write.position + write.bytes.length)
      if (from >= to) return write
      const bytes = write.bytes.slice()
      change(bytes.subarray(from - write.position, to - write.position), from)
      return { ...write, bytes }
    })
  }

  /** Damage on the medium: all from there on is gone, also what was to be written there. */
  cutOff(bytes: number, number: number): void {
    this.differs = true
    for (const content of [this.current, this.durable]) if (bytes < content.size) content.truncate(bytes)
    if (this.unsynced.length > 0) this.unsynced.push({ number, kind: 'truncate', bytes })
  }

  /** The same file for another process on the same machine, which may make changes of its own. */
  fork(): DiskFile {
    const forked = new DiskFile(this.current.copy(), this.modifiedMs)
    forked.durable = this.durable.copy()
    forked.unsynced = this.unsynced.slice()
    forked.differs = this.differs
    forked.links = this.links
    forked.number = this.number
    forked.earlier.push(...this.earlier)
    return forked
  }

  /** What a reader finds after a power cut. */
  afterCrash(crash: CrashOfDisk): DiskFile {
    const { inOrderTo } = crash.choice
    const content = inOrderTo === undefined ? crashedContent(this.durable, this.unsynced, crash) : this.durable.copy()
    if (inOrderTo !== undefined) this.applyTo(content, inOrderTo, crash)
    const found = new DiskFile(content, this.modifiedMs)
    found.number = this.number
    found.earlier.push(...this.earlier)
    return found
  }

  private applyTo(content: DiskContent, last: number, { counts }: CrashOfDisk): void {
    for (const change of this.unsynced) {
      counts.add(change.number <= last ? `crash: ${change.kind} kept` : `crash: ${change.kind} lost`)
      if (change.number <= last) applyChange(content, change)
    }
  }

  private remember(): void {
    this.earlier.unshift(this.durable.copy())
    if (this.earlier.length > earlierMax) this.earlier.pop()
  }

  private takeTo(mark: number): DiskChange[] {
    let count = 0
    while (count < this.unsynced.length && this.unsynced[count]!.number <= mark) count++
    return this.unsynced.splice(0, count)
  }
}
