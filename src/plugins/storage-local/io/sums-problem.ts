import { type FileSystem } from '../../../kernel/ports/file-system.ts'
import { SumChain, seedOf, sumEntryBytes, sumHeaderBytes } from '../core/batch-sums.ts'

/** Why a `.sum` file is not what was written up to the byte `end`, if it is not: its header, or an entry, by their checks. Reads all of it. */
export function sumsProblem(files: FileSystem, path: string, header: Uint8Array, end: number): string | undefined {
  if (files.stat(path)?.kind !== 'file') return 'the file is gone'
  const file = files.open(path, 'read')
  try {
    const buffer = new Uint8Array(64 * 1024)
    const read = file.read(buffer, 0, sumHeaderBytes, 0)
    if (read < sumHeaderBytes || header.some((byte, index) => byte !== buffer[index])) return 'its header is not what was written'
    const chain = new SumChain(seedOf(header))
    for (let position = sumHeaderBytes; position < end;) {
      const length = file.read(buffer, 0, Math.min(buffer.length, end - position), position)
      if (length === 0 || length % sumEntryBytes !== 0) return 'it is shorter than it was'
      const problem = chain.follow(buffer, 0, length)
      if (problem !== undefined) return problem
      position += length
    }
    return undefined
  } finally {
    file.close()
  }
}
