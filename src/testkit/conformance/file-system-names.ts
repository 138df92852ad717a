import { bytes, claim, get, put, readAll, text, type FileSystemClaim } from './file-system-subject.ts'
import { check, checkEqual, checkThrows } from './kit.ts'

/** What names are and do. */
export const fileNameClaims: readonly FileSystemClaim[] = [
  claim('each way to open a file says what it needs and makes', ({ files }, at) => {
    checkThrows('MR_FILE_NOT_FOUND', () => files.open(at('a'), 'read'), 'reading what is not there')
    checkThrows('MR_FILE_NOT_FOUND', () => files.open(at('a'), 'update'), 'updating what is not there')
    checkThrows('MR_FILE_NOT_FOUND', () => files.open(at('none/a'), 'create'), 'creating in a directory that is not there')
    files.open(at('a'), 'create').close()
    checkThrows('MR_FILE_EXISTS', () => files.open(at('a'), 'create'), 'creating what is there')
    put(files, at('a'), text('kept'))
    files.open(at('a'), 'ensure').close()
    files.open(at('a'), 'update').close()
    checkEqual(get(files, at('a')), text('kept'), 'opening keeps the content')
    files.open(at('b'), 'ensure').close()
    checkEqual(files.stat(at('b'))?.bytes, 0, 'a file made by ensure is empty')
  }),
  claim('a file opened for reading cannot be written', ({ files }, at) => {
    put(files, at('a'), text('x'))
    const file = files.open(at('a'), 'read')
    let refused = false
    try {
      file.write([text('y')], 0)
    } catch {
      refused = true
    }
    file.close()
    check(refused, 'a write to a file opened for reading is refused')
    checkEqual(get(files, at('a')), text('x'), 'the content is unchanged')
  }),
  claim('names are listed sorted, and a missing directory is not found', ({ files, directory }, at) => {
    for (const name of ['b', 'a10', 'a2', 'Z']) put(files, at(name), bytes())
    files.makeDirectory(at('c/d'))
    checkEqual(files.list(directory), ['Z', 'a10', 'a2', 'b', 'c'], 'names in order')
    checkEqual(files.list(at('c')), ['d'], 'names of a directory within')
    checkThrows('MR_FILE_NOT_FOUND', () => files.list(at('none')), 'listing what is not there')
    checkThrows('MR_FILE_NOT_FOUND', () => files.list(at('b')), 'listing a file')
  }),
  claim('stat tells file from directory, and answers undefined for nothing', ({ files, directory }, at) => {
    put(files, at('a'), text('12345'))
    checkEqual(files.stat(at('a'))?.kind, 'file', 'kind of a file')
    checkEqual(files.stat(at('a'))?.bytes, 5, 'bytes of a file')
    checkEqual(files.stat(directory)?.kind, 'directory', 'kind of a directory')
    checkEqual(files.stat(at('none')), undefined, 'nothing there')
    checkEqual(files.stat(at('a/b')), undefined, 'nothing below a file')
  }),
  claim('a directory is made with its parents, and once more without harm', ({ files }, at) => {
    files.makeDirectory(at('x/y/z'))
    put(files, at('x/y/z/file'), text('1'))
    files.makeDirectory(at('x/y/z'))
    checkEqual(files.list(at('x/y/z')), ['file'], 'what was in it is still there')
    put(files, at('f'), text('1'))
    checkThrows('MR_FILE_EXISTS', () => files.makeDirectory(at('f')), 'a file of that name')
  }),
  claim('rename replaces a file in one step, and open files follow theirs', ({ files }, at) => {
    put(files, at('old'), text('old'))
    put(files, at('new'), text('new'))
    const open = files.open(at('old'), 'read')
    files.rename(at('new'), at('old'))
    checkEqual(get(files, at('old')), text('new'), 'the name has the new content')
    checkEqual(files.stat(at('new')), undefined, 'the former name is gone')
    checkEqual(readAll(open), text('old'), 'the open file keeps its content')
    open.close()
    checkThrows('MR_FILE_NOT_FOUND', () => files.rename(at('none'), at('old')), 'renaming what is not there')
    checkThrows('MR_FILE_NOT_FOUND', () => files.rename(at('old'), at('none/x')), 'into a directory that is not there')
    checkEqual(get(files, at('old')), text('new'), 'a refused rename changes nothing')
  }),
  claim('a directory is renamed with what is in it, to a free name only', ({ files }, at) => {
    files.makeDirectory(at('a/b'))
    put(files, at('a/b/f'), text('1'))
    files.rename(at('a'), at('c'))
    checkEqual(get(files, at('c/b/f')), text('1'), 'the content came along')
    files.makeDirectory(at('full'))
    put(files, at('full/f'), text('2'))
    checkThrows('MR_FILE_EXISTS', () => files.rename(at('c'), at('full')), 'onto a directory with content')
    checkEqual(get(files, at('full/f')), text('2'), 'which is unchanged')
  }),
  claim('remove takes a file, or a directory with all that is in it, or nothing', ({ files, directory }, at) => {
    files.makeDirectory(at('a/b/c'))
    put(files, at('a/b/f'), text('1'))
    put(files, at('g'), text('1'))
    files.remove(at('a'))
    files.remove(at('g'))
    files.remove(at('none'))
    files.remove(at('none/below'))
    checkEqual(files.list(directory), [], 'nothing is left')
  }),
  claim('a removed file stays usable for those who have it open', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('abc')], 0)
    files.remove(at('a'))
    put(files, at('a'), text('other'))
    file.write([text('d')], 3)
    checkEqual(readAll(file), text('abcd'), 'the open file')
    checkEqual(get(files, at('a')), text('other'), 'the new file of the name')
    file.close()
  }),
  claim('space is that of the device of a place that exists: what is free, and no less in all', ({ files, directory }) => {
    const { freeBytes, totalBytes } = files.space(directory)
    check(freeBytes > 0, 'there is room for a test')
    check(totalBytes >= freeBytes, 'no more is free than there is')
    checkThrows('MR_FILE_NOT_FOUND', () => files.space(`${directory}/none`), 'a place that is not there')
  }),
  claim('the life of the page cache is one for all of a file\'s life, another for another file, and none of what is no file', ({ files, directory }, at) => {
    put(files, at('a'), text('1'))
    const life = files.cacheLife?.(at('a'))
    put(files, at('a'), text('other bytes'))
    checkEqual(files.cacheLife?.(at('a')), life, 'written once more')
    files.rename(at('a'), at('b'))
    checkEqual(files.cacheLife?.(at('b')), life, 'under another name')
    put(files, at('a'), text('1'))
    if (life !== undefined) check(files.cacheLife?.(at('a')) !== life, 'a copy is another file')
    checkEqual(files.cacheLife?.(at('none')), undefined, 'no file')
    checkEqual(files.cacheLife?.(directory), undefined, 'a directory')
  }),
  claim('an error names its operation and path', ({ files }, at) => {
    try {
      files.open(at('none'), 'read')
    } catch (error) {
      check(String(error).includes(at('none')), `the path is in the message: ${String(error)}`)
      check(String(error).includes('open'), `the operation is in the message: ${String(error)}`)
    }
  }),
]
