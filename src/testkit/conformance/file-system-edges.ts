import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { claim, get, put, readAll, same, text, type FileSystemClaim } from './file-system-subject.ts'
import { check, checkEqual, checkThrows } from './kit.ts'

/** Where implementations differ when nobody looks. */
export const fileEdgeClaims: readonly FileSystemClaim[] = [
  claim('a directory is opened in no mode', ({ files }, at) => {
    files.makeDirectory(at('d'))
    for (const mode of ['read', 'update', 'ensure'] as const) checkThrows('MR_FILE_FAILED', () => files.open(at('d'), mode), mode)
    checkThrows('MR_FILE_EXISTS', () => files.open(at('d'), 'create'), 'create')
  }),
  claim('nothing is below a file', ({ files }, at) => {
    put(files, at('f'), text('1'))
    for (const mode of ['read', 'update', 'create', 'ensure'] as const) checkThrows('MR_FILE_NOT_FOUND', () => files.open(at('f/x'), mode), `open for ${mode}`)
    checkThrows('MR_FILE_NOT_FOUND', () => files.list(at('f/x')), 'list')
    checkThrows('MR_FILE_NOT_FOUND', () => files.makeDirectory(at('f/x')), 'make directory')
    checkThrows('MR_FILE_NOT_FOUND', () => files.makeDirectory(at('f/x/y')), 'make directory with parents')
    checkThrows('MR_FILE_NOT_FOUND', () => files.syncDirectory(at('f')), 'sync directory')
    checkThrows('MR_FILE_NOT_FOUND', () => files.rename(at('f'), at('f/x')), 'rename to')
    checkThrows('MR_FILE_NOT_FOUND', () => files.rename(at('f/x'), at('g')), 'rename from')
    checkThrows('MR_FILE_NOT_FOUND', () => files.space(at('f/x')), 'space')
    checkEqual(files.stat(at('f/x/y')), undefined, 'stat')
    files.remove(at('f/x'))
    checkEqual(get(files, at('f')), text('1'), 'the file')
  }),
  claim('a rename is refused onto a directory from a file, onto a file from a directory, and into itself; onto itself it does nothing', ({ files, directory }, at) => {
    put(files, at('f'), text('1'))
    files.makeDirectory(at('d/e'))
    files.makeDirectory(at('empty'))
    checkThrows('MR_FILE_FAILED', () => files.rename(at('f'), at('empty')), 'a file onto an empty directory')
    checkThrows('MR_FILE_NOT_FOUND', () => files.rename(at('d'), at('f')), 'a directory onto a file')
    checkThrows('MR_FILE_FAILED', () => files.rename(at('d'), at('d/e/x')), 'a directory into itself')
    checkThrows('MR_FILE_NOT_FOUND', () => files.rename(at('none'), at('none')), 'nothing onto itself')
    files.rename(at('f'), at('f'))
    files.rename(at('d'), at('d'))
    checkEqual(files.list(directory), ['d', 'empty', 'f'], 'the names')
    files.rename(at('d'), at('empty'))
    checkEqual([files.list(directory), files.list(at('empty'))], [['empty', 'f'], ['e']], 'a directory onto an empty one')
  }),
  claim('names may be of any letters, and one that is too long or holds a zero byte is refused', ({ files, directory }, at) => {
    const odd = ['ünïcode', 'имя', '名前', '🙂', 'with space', 'a:b', '-dash', '.hidden', '...', 'x'.repeat(255)]
    for (const name of odd) put(files, at(name), text(name.slice(0, 1)))
    checkEqual(files.list(directory), [...odd].sort(), 'all of them, in the order of their code units')
    for (const name of odd) checkEqual(get(files, at(name)).length, 1, name)
    checkThrows('MR_FILE_FAILED', () => files.open(at('x'.repeat(256)), 'create'), 'too long')
    checkThrows('MR_FILE_FAILED', () => files.open(at('a\0b'), 'create'), 'a zero byte')
    checkEqual(files.list(directory).length, odd.length, 'nothing was made')
  }),
  claim('. and .. are followed as in any path', ({ files }, at) => {
    files.makeDirectory(at('d/e'))
    put(files, at('f'), text('1'))
    checkEqual(get(files, at('./d/e/../../f')), text('1'), 'a file')
    checkEqual(files.list(at('d/.')), ['e'], 'a directory')
    checkEqual(files.stat(at('none/../f')), undefined, 'through a directory that is not there')
    checkEqual(files.stat(at('f/../f')), undefined, 'through a file')
  }),
  claim('a position far behind the end is written there, and only there', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('end')], 1_000_003)
    file.write([text('begin')], 0)
    const target = new Uint8Array(6)
    checkEqual([file.size(), file.read(target, 0, 6, 1_000_000)], [1_000_006, 6], 'size, and bytes read')
    checkEqual(target, Uint8Array.from([0, 0, 0, ...text('end')]), 'the end')
    file.truncate(1_000_004)
    file.truncate(1_000_010)
    checkEqual(file.read(target, 0, 6, 1_000_003), 6, 'read after truncations')
    checkEqual(target, Uint8Array.from([...text('e'), 0, 0, 0, 0, 0]), 'cut, and lengthened with zeros')
    file.close()
  }),
  claim('a file that is cut while it is read gives what is left', async ({ files, settle = same }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('0123456789')], 0)
    file.truncate(0)
    const target = new Uint8Array(4)
    checkEqual(file.read(target, 0, 4, 0), 0, 'nothing is left')
    checkEqual(await settle(new Promise<number>(resolve => file.readLater(target, 0, 4, 2, (_error, count) => resolve(count)))), 0, 'off the loop')
    file.write([text('ab')], 8)
    checkEqual(readAll(file), Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, ...text('ab')]), 'what was cut does not come back')
    file.close()
  }),
  claim('a file opened for reading is synced and neither written nor cut', ({ files }, at) => {
    put(files, at('a'), text('kept'))
    const file = files.open(at('a'), 'read')
    file.syncNow()
    checkThrows('MR_FILE_FAILED', () => file.write([text('x')], 0), 'write')
    checkThrows('MR_FILE_FAILED', () => file.truncate(0), 'truncate')
    file.close()
    checkEqual(get(files, at('a')), text('kept'), 'the content')
  }),
  claim('each use of a closed file throws, and touches no other', ({ files }, at) => {
    const closed = files.open(at('a'), 'create')
    closed.close()
    const other = files.open(at('b'), 'create')
    other.write([text('other')], 0)
    const uses: Readonly<Record<string, (file: File) => void>> = {
      size: file => file.size(),
      read: file => file.read(new Uint8Array(1), 0, 1, 0),
      readLater: file => file.readLater(new Uint8Array(1), 0, 1, 0, () => {}),
      write: file => file.write([text('x')], 0),
      sync: file => file.sync(() => {}),
      syncNow: file => file.syncNow(),
      truncate: file => file.truncate(0),
    }
    for (const [use, run] of Object.entries(uses)) check(throws(() => { run(closed) }), `${use} after close throws`)
    checkEqual(readAll(other), text('other'), 'the other file')
    other.close()
  }),
  claim('an open file follows no name: after a rename it is under the new one', ({ files }, at) => {
    files.makeDirectory(at('d'))
    const file = files.open(at('d/a'), 'create')
    files.rename(at('d/a'), at('d/b'))
    file.write([text('1')], 0)
    files.rename(at('d'), at('e'))
    file.write([text('2')], 1)
    checkEqual(get(files, at('e/b')), text('12'), 'the content')
    checkEqual(file.path, at('d/a'), 'the path is the one that it was opened by')
    file.close()
  }),
  claim('many files may be open at once, and a name be used again and again', ({ files }, at) => {
    const open = Array.from({ length: 100 }, (_, index) => files.open(at(`f${index}`), 'create'))
    open.forEach((file, index) => { file.write([text(String(index))], 0) })
    open.forEach((file, index) => { checkEqual(readAll(file), text(String(index)), `file ${index}`) })
    for (const file of open) file.close()
    for (let round = 0; round < 20; round++) replaced(files, at('again'), round)
  }),
]

function replaced(files: FileSystem, path: string, round: number): void {
  const file = files.open(path, 'create')
  file.write([text(`round ${round}`)], 0)
  files.remove(path)
  checkEqual(files.stat(path), undefined, 'removed')
  checkEqual(readAll(file), text(`round ${round}`), 'still open')
  file.close()
}

function throws(run: () => void): boolean {
  try {
    run()
  } catch {
    return true
  }
  return false
}
