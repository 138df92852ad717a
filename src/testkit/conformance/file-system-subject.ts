import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { type PageCache } from '../../kernel/ports/page-cache.ts'
import { checkEqual } from './kit.ts'

/** A file system, and a place in it. */
export interface FileSystemSubject {
  /** With what it tells of its page cache, if it does. */
  readonly files: FileSystem & Partial<PageCache>
  /** An existing empty directory that is this test's own. */
  readonly directory: string
  /** Lets time pass until the promise is settled. Real file systems need nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
  /** Cuts the power and gives the file system that is found afterwards, with nothing kept that was not synced. Where it can be done. */
  readonly powerCut?: () => FileSystem & Partial<PageCache>
  readonly dispose?: () => void
}

export type FileSystemBody = (subject: FileSystemSubject, at: (name: string) => string) => void | Promise<void>

export interface FileSystemClaim {
  readonly title: string
  readonly body: FileSystemBody
}

export const claim = (title: string, body: FileSystemBody): FileSystemClaim => ({ title, body })
export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
export const text = (value: string): Uint8Array => Uint8Array.from(value, character => character.charCodeAt(0))
export const same = <T>(promise: Promise<T>): Promise<T> => promise
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

/** A file of this content, synced. */
export function put(files: FileSystem, path: string, content: Uint8Array): void {
  const file = files.open(path, 'ensure')
  file.truncate(0)
  file.write([content], 0)
  file.syncNow()
  file.close()
}

export function get(files: FileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  const content = readAll(file)
  file.close()
  return content
}

export function readAll(file: File): Uint8Array {
  const content = new Uint8Array(file.size())
  checkEqual(file.read(content, 0, content.length, 0), content.length, 'the whole file is read')
  return content
}
