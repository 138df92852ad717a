import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { type FileSystem } from '../../../../src/kernel/ports/file-system.ts'
import { seedOf } from '../../../integration/seeds.ts'

/** Where a random test begins: the same in every run, `SEED`, or with `CRASH_SEEDS` a new one. */
export const firstSeed = (): number => seedOf(1)

export function bytesOf(files: FileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return bytes
}

/** Runs of equal bytes: `512x1 512x0`. */
export function runsOf(bytes: Uint8Array): string {
  const runs: string[] = []
  for (let from = 0; from < bytes.length;) {
    let to = from
    while (to < bytes.length && bytes[to] === bytes[from]) to++
    runs.push(`${to - from}x${bytes[from]!}`)
    from = to
  }
  return runs.join(' ')
}

export const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte)

/** The file, of these bytes, with contents and name synced. */
export function putSynced(files: FileSystem, path: string, bytes: Uint8Array) {
  const file = files.open(path, 'create')
  file.write([bytes], 0)
  file.syncNow()
  files.syncDirectory(path.slice(0, path.lastIndexOf('/')) || '/')
  return file
}

export const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return isMillraceError(error) ? error.code : String(error)
  }
  return 'nothing thrown'
}
