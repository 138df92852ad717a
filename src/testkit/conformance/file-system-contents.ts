import { bytes, claim, put, readAll, same, text, type FileSystemClaim } from './file-system-subject.ts'
import { checkEqual, checkThrows } from './kit.ts'

/** What open files hold. */
export const fileContentClaims: readonly FileSystemClaim[] = [
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

/** What is answered later. */
export const laterClaims: readonly FileSystemClaim[] = [
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
