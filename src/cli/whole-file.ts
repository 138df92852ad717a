import { type FileSystem } from '../kernel/ports/file-system.ts'

export function wholeFile(files: FileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  try {
    const bytes = new Uint8Array(file.size())
    return bytes.subarray(0, file.read(bytes, 0, bytes.length, 0))
  } finally {
    file.close()
  }
}
