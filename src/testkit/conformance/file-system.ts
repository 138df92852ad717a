import { type File, type FileSystem } from '../../kernel/ports/file-system.ts'
import { check, checkEqual, checkThrows, type DeclareTest } from './kit.ts'

export interface FileSystemSubject {
  readonly files: FileSystem
  /** An existing empty directory that is this test's own. */
  readonly directory: string
  /** Lets time pass until the promise is settled. Real file systems need nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
  /** Cuts the power and gives the file system that is found afterwards, with nothing kept that was not synced. Where it can be done. */
  readonly powerCut?: () => FileSystem
  readonly dispose?: () => void
}

export interface FileSystemConformance {
  readonly test: DeclareTest
  readonly create: () => FileSystemSubject
}

type Body = (subject: FileSystemSubject, at: (name: string) => string) => void | Promise<void>

interface Claim {
  readonly title: string
  readonly body: Body
}

const claim = (title: string, body: Body): Claim => ({ title, body })
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const text = (value: string): Uint8Array => Uint8Array.from(value, character => character.charCodeAt(0))

const names: readonly Claim[] = [
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
    for (const name of ['b', 'a10', 'a2', 'B']) put(files, at(name), bytes())
    files.makeDirectory(at('c/d'))
    checkEqual(files.list(directory), ['B', 'a10', 'a2', 'b', 'c'], 'names in order')
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
  claim('free bytes is a number of a place that exists', ({ files, directory }) => {
    check(files.freeBytes(directory) > 0, 'there is room for a test')
    checkThrows('MR_FILE_NOT_FOUND', () => files.freeBytes(`${directory}/none`), 'a place that is not there')
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

const contents: readonly Claim[] = [
  claim('pieces are written one after another at the position given', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('ab'), bytes(), text('c'), text('def')], 0)
    file.write([text('XY')], 1)
    checkEqual(readAll(file), text('aXYdef'), 'written and overwritten')
    file.write([text('far')], 10)
    checkEqual(readAll(file), Uint8Array.from([...text('aXYdef'), 0, 0, 0, 0, ...text('far')]), 'a gap reads as zeros')
    file.write([], 3)
    file.write([bytes()], 100)
    checkEqual(file.size(), 13, 'writing nothing changes nothing')
    file.close()
  }),
  claim('many small pieces, and a few large ones, arrive whole', ({ files }, at) => {
    const small = Array.from({ length: 3000 }, (_, index) => new Uint8Array(100).fill(index))
    const large = Array.from({ length: 70 }, (_, index) => new Uint8Array(20_000).fill(index))
    const middle = Array.from({ length: 40 }, (_, index) => new Uint8Array(700 + index).fill(index))
    for (const pieces of [small, large, middle]) {
      const file = files.open(at('a'), 'create')
      file.write(pieces, 5)
      const expected = new Uint8Array(5 + pieces.reduce((sum, piece) => sum + piece.length, 0))
      let end = 5
      for (const piece of pieces) {
        expected.set(piece, end)
        end += piece.length
      }
      checkEqual(readAll(file), expected, `${pieces.length} pieces`)
      file.close()
      files.remove(at('a'))
    }
  }),
  claim('written pieces are the caller\'s again', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    const piece = text('kept')
    file.write([piece, piece], 0)
    piece.fill(0)
    checkEqual(readAll(file), text('keptkept'), 'changing the piece afterwards changes no file')
    file.close()
  }),
  claim('a read fills its part of the target, and stops at the end of the file', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('0123456789')], 0)
    const target = new Uint8Array(8).fill(255)
    checkEqual(file.read(target, 2, 4, 3), 4, 'bytes read')
    checkEqual(target, Uint8Array.from([255, 255, ...text('3456'), 255, 255]), 'nothing outside the part changed')
    checkEqual(file.read(target, 0, 8, 7), 3, 'bytes before the end')
    checkEqual(file.read(target, 0, 8, 10), 0, 'at the end')
    checkEqual(file.read(target, 0, 8, 500), 0, 'beyond the end')
    checkEqual(file.read(target, 0, 0, 0), 0, 'nothing asked')
    file.close()
  }),
  claim('truncate shortens, and lengthens with zeros', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('0123456789')], 0)
    file.truncate(4)
    checkEqual(file.size(), 4, 'shorter')
    file.truncate(6)
    checkEqual(readAll(file), Uint8Array.from([...text('0123'), 0, 0]), 'what was cut does not come back')
    file.close()
    checkEqual(files.stat(at('a'))?.bytes, 6, 'the size that others see')
  }),
  claim('two who have a file open see each other\'s writes', ({ files }, at) => {
    const writer = files.open(at('a'), 'create')
    const reader = files.open(at('a'), 'read')
    writer.write([text('new')], 0)
    checkEqual(readAll(reader), text('new'), 'the reader')
    writer.close()
    checkEqual(readAll(reader), text('new'), 'the reader, when the writer is gone')
    reader.close()
  }),
  claim('closing twice is closing once', ({ files }, at) => {
    const file = files.open(at('a'), 'create')
    const other = files.open(at('b'), 'create')
    file.close()
    file.close()
    other.write([text('1')], 0)
    checkEqual(readAll(other), text('1'), 'a file opened meanwhile is untouched')
    other.close()
  }),
]

const later: readonly Claim[] = [
  claim('a read off the loop gives what a read gives, never before the call returned', async ({ files, settle = same }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('0123456789')], 0)
    const target = new Uint8Array(8)
    let returned = false
    const count = await settle(new Promise<number>((resolve, reject) => {
      file.readLater(target, 1, 6, 6, (error, found) => {
        if (!returned) reject(new Error('done came before readLater returned'))
        else if (error !== undefined) reject(error as Error)
        else resolve(found)
      })
      returned = true
    }))
    checkEqual(count, 4, 'bytes before the end')
    checkEqual(target.subarray(1, 5), text('6789'), 'the bytes')
    file.close()
  }),
  claim('every sync is answered once, never before the call returned', async ({ files, settle = same }, at) => {
    const open = Array.from({ length: 8 }, (_, index) => files.open(at(`f${index}`), 'create'))
    const answers = new Array<number>(16).fill(0)
    let returned = false
    await settle(Promise.all(answers.map((_, index) => new Promise<void>((resolve, reject) => {
      const file = open[index % open.length]!
      file.write([text('x')], index)
      file.sync(error => {
        answers[index]!++
        if (!returned) reject(new Error('done came before sync returned'))
        else if (error !== undefined) reject(error as Error)
        else resolve()
      })
      if (index === answers.length - 1) returned = true
    }))))
    checkEqual(answers, new Array<number>(16).fill(1), 'answers')
    for (const file of open) {
      file.syncNow()
      file.close()
    }
  }),
  claim('a file may be closed while its sync and its read are on their way', async ({ files, settle = same }, at) => {
    const file = files.open(at('a'), 'create')
    file.write([text('abc')], 0)
    const target = new Uint8Array(3)
    const both = Promise.all([
      new Promise<unknown>(resolve => file.sync(resolve)),
      new Promise<number>(resolve => file.readLater(target, 0, 3, 0, (_error, count) => resolve(count))),
    ])
    file.close()
    const other = files.open(at('b'), 'create')
    checkEqual(await settle(both), [undefined, 3], 'both succeed')
    checkEqual(target, text('abc'), 'the bytes of the right file')
    other.close()
  }),
  claim('the names of a directory can be synced', ({ files, directory }, at) => {
    put(files, at('a'), text('1'))
    files.syncDirectory(directory)
    checkThrows('MR_FILE_NOT_FOUND', () => files.syncDirectory(at('none')), 'a directory that is not there')
  }),
]

const durability: readonly Claim[] = [
  claim('synced contents under synced names outlive a power cut, others do not', async ({ files, directory, settle = same, powerCut }, at) => {
    files.syncDirectory(parentOf(directory))
    const file = files.open(at('a'), 'create')
    file.write([text('synced')], 0)
    await settle(new Promise<unknown>(resolve => file.sync(resolve)))
    files.syncDirectory(directory)
    file.write([text('lost')], 6)
    put(files, at('no-name'), text('synced contents'))
    const found = powerCut!()
    checkEqual(found.list(directory), ['a'], 'the name that was not synced is gone')
    checkEqual(get(found, at('a')), text('synced'), 'the content as of the sync')
  }),
  claim('a rename is whole or not at all', ({ files, directory, powerCut }, at) => {
    files.syncDirectory(parentOf(directory))
    put(files, at('a'), text('1'))
    files.syncDirectory(directory)
    files.rename(at('a'), at('b'))
    checkEqual(powerCut!().list(directory), ['a'], 'not synced: the old name')
    files.syncDirectory(directory)
    checkEqual(powerCut!().list(directory), ['b'], 'synced: the new name')
  }),
]

const same = <T>(promise: Promise<T>): Promise<T> => promise
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'

/** A file of this content, synced. */
function put(files: FileSystem, path: string, content: Uint8Array): void {
  const file = files.open(path, 'ensure')
  file.truncate(0)
  file.write([content], 0)
  file.syncNow()
  file.close()
}

function get(files: FileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  const content = readAll(file)
  file.close()
  return content
}

function readAll(file: File): Uint8Array {
  const content = new Uint8Array(file.size())
  checkEqual(file.read(content, 0, content.length, 0), content.length, 'the whole file is read')
  return content
}

/** What every FileSystem must do. The power-cut tests are declared only for a subject that offers one. */
export function fileSystemConformance({ test, create }: FileSystemConformance): void {
  const probe = create()
  probe.dispose?.()
  const claims = [...names, ...contents, ...later, ...(probe.powerCut === undefined ? [] : durability)]
  for (const { title, body } of claims) {
    test(title, async () => {
      const subject = create()
      try {
        await body(subject, name => `${subject.directory}/${name}`)
      } finally {
        subject.dispose?.()
      }
    })
  }
}
