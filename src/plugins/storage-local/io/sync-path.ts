import { type FileSystem } from '../../../kernel/ports/file-system.ts'

/** Makes durable what is in a file, if there is one. */
export function syncPath(files: FileSystem, path: string): void {
  if (files.stat(path) === undefined) return
  const file = files.open(path, 'update')
  try {
    file.syncNow()
  } finally {
    file.close()
  }
}
