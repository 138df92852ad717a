import { uuidFromBytes } from '../base/uuid.ts'
import { type Uuid } from '../kernel/model/ids.ts'
import { type Random } from '../kernel/ports/clock.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { readText } from './config-file.ts'

/** The cluster that the first data directory belongs to; a new one where there is none yet. */
export function clusterIdOf(files: FileSystem, random: Random, dataDirectory: string, durable: boolean): Uuid {
  const path = `${dataDirectory}/meta.properties`
  if (durable && files.stat(path)?.kind === 'file') {
    const found = /^cluster\.id\s*[=:]\s*(\S+)\s*$/m.exec(readText(files, path))
    if (found !== null) return found[1]!
  }
  return uuidFromBytes(random.bytes(16))
}
