import { MillraceError, isMillraceError } from '../../kernel/errors/index.ts'
import { type Uuid } from '../../kernel/model/ids.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type ListedDirectory } from './core/directory-list.ts'
import { checkNoneMissing, listedDirectories, type FoundDirectory } from './core/missing-directories.ts'
import { findDirectory } from './io/found-directory.ts'
import { type LogDirectory } from './log-directory.ts'

export interface MembershipOptions {
  readonly files: FileSystem
  readonly logger: Logger
  /** Ids of directories that were given up: the setting `lostDirectories`. */
  readonly lost: readonly Uuid[]
}

/**
 * Which data directories a broker has. Each keeps a list of all: where one of them is not there, a start is refused, instead of taking what it held
 * for new, empty logs. A new one has no `meta.properties`, and so no log, until every list names it.
 */
export class DirectoryMembership {
  /** The first that a directory went out of service for. */
  failure: unknown
  private readonly directories: readonly LogDirectory[]
  private readonly options: MembershipOptions
  /** What those say of themselves that could be read. */
  private readonly found = new Map<LogDirectory, FoundDirectory>()

  constructor(directories: readonly LogDirectory[], options: MembershipOptions) {
    this.directories = directories
    this.options = options
  }

  /** Before anything is written: throws MR_LOG_DIRECTORY_MISSING. One that cannot be read has failed. */
  check(): void {
    const { files, logger, lost } = this.options
    for (const directory of this.directories) this.attempt(directory, () => { this.found.set(directory, findDirectory(files, directory.path)) })
    const found = [...this.found.values()]
    checkNoneMissing(found, this.directories.filter(each => !this.found.has(each)).map(({ path }) => path), new Set(lost))
    for (const { isListDamaged, listPath } of found) if (isListDamaged) logger.warn('the list of data directories is damaged, and is made anew from that of another', { path: listPath })
  }

  /**
   * Enters the directories that are open in the lists of all. At whatever step the process ends: an id that a list names is in a file of the
   * directory itself, and a directory that may have a log is in every list.
   */
  enter(): void {
    const open = this.directories.filter(each => each.offline === undefined)
    const members = this.members(open)
    const join = ({ data: { id }, path }: LogDirectory): void => void members.set(id, { id, path })
    for (const each of open) if (each.data.isNamed) join(each)
    for (const each of open) {
      if (each.data.isNamed) continue
      this.attempt(each, () => {
        each.starting(() => each.data.writeList([...members.values(), { id: each.data.id, path: each.path }]))
        join(each)
      })
    }
    // A list that is of an old id excuses that one, until no other names it any more.
    for (const isRenamed of [false, true]) {
      for (const each of open) if (each.offline === undefined && each.data.isRenamed === isRenamed) this.attempt(each, () => each.starting(() => each.data.writeList([...members.values()])))
    }
    this.admit(open)
  }

  /** What the lists name, without what was given up or has another id now; and those that have gone out of service since they said who they are. */
  private members(open: readonly LogDirectory[]): Map<Uuid, ListedDirectory> {
    // Read again: only now nobody else can write them.
    const found = [...this.found.values(), ...open.flatMap(({ data }) => data.found ?? [])]
    const members = listedDirectories(found)
    for (const { id, list } of found) if (list !== undefined && id !== list.self) members.delete(list.self)
    for (const { id, path } of found) if (id !== undefined && !members.has(id)) members.set(id, { id, path })
    this.strike(members, found)
    return members
  }

  /** A new directory may have logs from now on; not while a list cannot be written, which would not tell when it is gone. */
  private admit(open: readonly LogDirectory[]): void {
    const unlisted = this.directories.find(each => each.offline !== undefined && this.found.get(each)?.isBlank !== true)
    for (const each of open) {
      if (each.offline !== undefined) continue
      if (unlisted !== undefined && each.data.isNew) {
        each.fail(new MillraceError('MR_FILE_FAILED', { operation: 'take into use', path: each.path, reason: `it is new, and ${unlisted.path}, which is offline, cannot be told of it; start again when that is back` }))
      } else this.attempt(each, () => each.starting(() => each.data.writeMeta()))
    }
  }

  private strike(members: Map<Uuid, ListedDirectory>, found: readonly FoundDirectory[]): void {
    const { logger, lost } = this.options
    for (const id of lost) {
      const there = found.find(each => each.id === id)
      if (there !== undefined) logger.warn('a data directory is named in lostDirectories and is there: take it out of the setting', { id, path: there.path })
      else if (members.has(id)) {
        logger.warn('a data directory was given up: what was in it is gone, its partitions begin anew, empty', { id, path: members.get(id)!.path })
        members.delete(id)
      }
    }
  }

  /** What fails of a disk takes the directory out of service. */
  private attempt(directory: LogDirectory, run: () => void): void {
    try {
      run()
    } catch (error) {
      if (!isMillraceError(error) || error.row.kind !== 'operational') throw error
      this.failure ??= error
      directory.fail(error)
    }
  }
}
