import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { MillraceError } from '../kernel/errors/index.ts'
import { type DeviceSpace, type File, type FileStat, type FileSystem } from '../kernel/ports/file-system.ts'
import { type PageCache } from '../kernel/ports/page-cache.ts'
import { cacheLifeOf } from './cache-life.ts'
import { errnoOf, fileError } from './file-error.ts'
import { GatheredWrite } from './gathered-write.ts'
import { NodeFile, type NodeFileContext } from './node-file.ts'
import { SyncQueue } from './sync-queue.ts'
import { systemFileCalls, type SystemFileCalls } from './system-file-calls.ts'

const flagsOf = {
  // Does not wait for whoever writes, where the name is that of a pipe.
  read: fs.constants.O_RDONLY | fs.constants.O_NONBLOCK,
  update: fs.constants.O_RDWR,
  create: fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL,
  ensure: fs.constants.O_RDWR | fs.constants.O_CREAT,
} as const

/** The thread pool is the process's, so is the bound on syncs in it. */
const processSyncs = new SyncQueue(systemFileCalls)

/** Files of this machine, through node:fs. Files are made for their owner alone to write, and for all to read. */
export class NodeFileSystem implements FileSystem, PageCache {
  private readonly context: NodeFileContext

  /** `calls` is for tests: what stands between an open file and the system. */
  constructor(calls: SystemFileCalls = systemFileCalls) {
    const syncs = calls === systemFileCalls ? processSyncs : new SyncQueue(calls)
    this.context = { calls, syncs, writes: new GatheredWrite(calls) }
  }

  open(path: string, mode: 'read' | 'update' | 'create' | 'ensure'): File {
    return attempt('open', path, () => {
      const descriptor = fs.openSync(path, flagsOf[mode], 0o644)
      if (mode === 'read') refuseNoFile(descriptor, path)
      return new NodeFile(path, descriptor, this.context)
    })
  }

  list(path: string): string[] {
    return attempt('list', path, () => fs.readdirSync(path).sort())
  }

  stat(path: string): FileStat | undefined {
    return attempt('stat', path, () => {
      const found = statIfThere(path)
      if (found === undefined) return undefined
      const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other'
      return { kind, bytes: found.size, modifiedMs: Math.floor(found.mtimeMs) }
    })
  }

  makeDirectory(path: string): void {
    attempt('make directory', path, () => { makeDirectories(path) })
  }

  rename(from: string, to: string): void {
    attempt('rename', from, () => fs.renameSync(from, to))
  }

  remove(path: string): void {
    attempt('remove', path, () => {
      try {
        fs.rmSync(path, { recursive: true, force: true })
      } catch (error) {
        // A file where a directory should be: nothing of that name.
        if (errnoOf(error) !== 'ENOTDIR') throw error
      }
    })
  }

  syncDirectory(path: string): void {
    attempt('sync directory', path, () => {
      const descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY)
      try {
        fs.fsyncSync(descriptor)
      } finally {
        fs.closeSync(descriptor)
      }
    })
  }

  space(path: string): DeviceSpace {
    return attempt('space', path, () => {
      const { bavail, blocks, bsize } = fs.statfsSync(path)
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
    })
  }

  cacheLife(path: string): string | undefined {
    return attempt('cache life', path, () => cacheLifeOf(path))
  }
}

/** A system opens directories for reading, too, and lets each read of them fail; pipes and devices have no size, and may have no end. */
function refuseNoFile(descriptor: number, path: string): void {
  const found = fs.fstatSync(descriptor)
  if (found.isFile()) return
  fs.closeSync(descriptor)
  throw found.isDirectory() ? Object.assign(new Error('EISDIR: a directory was to be read as a file'), { code: 'EISDIR' }) : new MillraceError('MR_FILE_FAILED', { operation: 'open', path, reason: 'it is no regular file' })
}

/** Not Node's own `recursive`: it never returns where a parent is there and yet the system says that it is not, as procfs does. */
function makeDirectories(path: string): void {
  try {
    fs.mkdirSync(path)
  } catch (error) {
    const errno = errnoOf(error)
    const found = errno === 'EEXIST' ? statIfThere(path) : undefined
    if (found?.isDirectory() === true) return
    if (errno === 'EEXIST' && found === undefined) {
      throw new MillraceError('MR_FILE_FAILED', { operation: 'make directory', path, reason: 'it is a link that leads nowhere; correct the link, or make what it leads to' })
    }
    const parent = dirname(path)
    if (errno !== 'ENOENT' || statIfThere(parent)?.isDirectory() === true) throw error
    makeDirectories(parent)
    makeDirectories(path)
  }
}

function statIfThere(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // A file where a directory should be: nothing of that name either.
    if (errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

function attempt<T>(operation: string, path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw fileError(error, operation, path)
  }
}
