import { claim, get, parentOf, put, same, text, type FileSystemClaim } from './file-system-subject.ts'
import { check, checkEqual } from './kit.ts'

/** What a power cut leaves, where one can be had. */
export const durabilityClaims: readonly FileSystemClaim[] = [
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
  claim('contents without their name are lost with it, and a name without its contents is an empty file', ({ files, directory, powerCut }, at) => {
    files.syncDirectory(parentOf(directory))
    const file = files.open(at('named'), 'create')
    files.syncDirectory(directory)
    file.write([text('lost')], 0)
    file.close()
    checkEqual(get(powerCut!(), at('named')), text(''), 'the content was not synced')
    files.remove(at('named'))
    checkEqual(powerCut!().list(directory), ['named'], 'a removal that was not synced')
    files.syncDirectory(directory)
    checkEqual(powerCut!().list(directory), [], 'a removal that was')
  }),
  claim('a truncation is durable with the next sync, and what it took does not come back', async ({ files, directory, settle = same, powerCut }, at) => {
    files.syncDirectory(parentOf(directory))
    put(files, at('a'), text('0123456789'))
    files.syncDirectory(directory)
    const file = files.open(at('a'), 'update')
    file.truncate(4)
    checkEqual(get(powerCut!(), at('a')), text('0123456789'), 'not synced')
    file.truncate(6)
    await settle(new Promise<unknown>(resolve => file.sync(resolve)))
    file.close()
    checkEqual(get(powerCut!(), at('a')), Uint8Array.from([...text('0123'), 0, 0]), 'synced')
  }),
  claim('a power cut ends the life of the page cache, and a file that outlives it has another name', ({ files, directory, powerCut }, at) => {
    files.syncDirectory(parentOf(directory))
    put(files, at('a'), text('synced'))
    files.syncDirectory(directory)
    const life = files.cacheLife?.(at('a'))
    if (life === undefined) return
    check(powerCut!().cacheLife?.(at('a')) !== life, 'after the power cut')
    checkEqual(files.cacheLife?.(at('a')), life, 'without one')
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
