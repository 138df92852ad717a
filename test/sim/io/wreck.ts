import { type FileSystem } from '../../../src/kernel/ports/file-system.ts'
import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'

const bytesOf = (files: FileSystem, path: string): Uint8Array => {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return bytes
}

export function put(files: FileSystem, path: string, bytes: Uint8Array, position = 0): void {
  const file = files.open(path, 'ensure')
  file.write([bytes], position)
  file.close()
}

const segmentsIn = (files: FileSystem, directory: string): string[] => files.list(directory).filter(name => name.endsWith('.log'))

/** What kills and people leave, so that a recovery has everything to do that it can do. */
export function wreck(files: MemoryFileSystem): void {
  for (const data of ['/data', '/data2']) {
    for (const name of files.list(data)) {
      const path = `${data}/${name}`
      if (name.startsWith('kept-')) wreckKept(files, path, name)
      if (name.startsWith('loose-')) wreckLoose(files, path)
      // The redo log has records of a partition that is not there, and says of one that is there that it was removed.
      if (name.startsWith('gone-')) files.remove(path)
      // What it says of its topic is not what its checksums say, and the redo log has records of it.
      if (name === 'short-1') put(files, `${path}/partition.metadata`, new TextEncoder().encode(`topic_id: ${'A'.repeat(21)}Q`), 'version: 0\n'.length)
      if (/^late-\d+\..*-delete$/.test(name)) files.rename(path, `${data}/${name.split('.')[0]!}`)
    }
    files.makeDirectory(`${data}/old-${data === '/data' ? 0 : 1}.${'a'.repeat(32)}-delete`)
    files.makeDirectory(`${data}/nameless-${data === '/data' ? 0 : 1}`)
    files.makeDirectory(`${data}/__millrace_redo.deleted`)
    moveStart(files, `${data}/log-start-offset-checkpoint`)
    // Then the start cannot rely on the page cache, and checks all.
    files.remove(`${data}/.millrace-cache-life`)
  }
}

function wreckKept(files: MemoryFileSystem, path: string, name: string): void {
  const segments = segmentsIn(files, path)
  const last = `${path}/${segments.at(-1)!}`
  // A write that was cut off, and a segment that was begun behind it.
  put(files, last, new Uint8Array(40), bytesOf(files, last).length)
  if (name === 'kept-0') files.open(`${path}/00000000000000000999.log`, 'create').close()
  // An index that leads elsewhere, but for its last entry.
  const index = `${path}/${segments[0]!.replace('.log', '.index')}`
  if (name === 'kept-1' && files.stat(index) !== undefined && bytesOf(files, index).length > 16) {
    const entries = bytesOf(files, index)
    for (let at = 7; at < entries.length - 8; at += 8) entries[at]! += 1
    put(files, index, entries)
  }
  if (!/^kept-[23]$/.test(name)) return
  // A segment that a compaction had ready, and one that is not proven to be one, files that a deletion left, a snapshot of nothing, and what should be a file.
  const sums = segments[0]!.replace('.log', '.sum')
  put(files, `${path}/${segments[0]!}.swap`, bytesOf(files, `${path}/${segments[0]!}`))
  if (files.stat(`${path}/${sums}`) !== undefined) put(files, `${path}/${sums}.swap`, bytesOf(files, `${path}/${sums}`))
  const second = segments[1]
  if (second !== undefined && name === 'kept-3') put(files, `${path}/${second}.swap`, bytesOf(files, `${path}/${second}`))
  put(files, `${path}/00000000000000009999.snapshot.deleted`, new Uint8Array(1))
  put(files, `${path}/00000000000000009999.snapshot`, new Uint8Array(1))
  files.makeDirectory(`${path}/00000000000000009998.timeindex`)
}

/** Damage in what was never synced, with intact batches and segments behind it; of one the rest was put aside by an attempt before. */
function wreckLoose(files: MemoryFileSystem, path: string): void {
  // Of a segment that was begun.
  files.open(`${path}/00000000000000000002.index`, 'ensure').close()
  const segments = segmentsIn(files, path).filter(each => bytesOf(files, `${path}/${each}`).length > 500)
  const damaged = segments.at(-2)
  if (damaged === undefined) return
  files.damage.flipBit(`${path}/${damaged}`, 100, 1)
  if (path.endsWith('-1')) put(files, `${path}/${damaged}.from-0.set-aside-1`, bytesOf(files, `${path}/${damaged}`))
}

/** A deletion of records that had come as far as its checkpoint. */
function moveStart(files: MemoryFileSystem, path: string): void {
  if (files.stat(path) === undefined) return
  const rows = new TextDecoder().decode(bytesOf(files, path)).trim().split('\n').slice(2).filter(row => !/^kept [23] /.test(row))
  rows.push('kept 2 4', 'kept 3 4')
  const file = files.open(path, 'update')
  file.truncate(0)
  file.write([new TextEncoder().encode(['0', String(rows.length), ...rows, ''].join('\n'))], 0)
  // A checkpoint is synced before it has its name.
  file.syncNow()
  file.close()
}
