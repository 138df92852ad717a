import { type KeyValueEngine, type KeyValuePut, type KeyValueStore } from '../../kernel/ports/key-value-store.ts'
import { check, checkEqual, checkRejects, type DeclareTest } from './kit.ts'

/** An engine, and a place for a store. */
export interface KeyValueSubject {
  readonly engine: KeyValueEngine
  /** A path that is this test's own, where no store is yet. */
  readonly path: string
  /** Lets time pass until the promise is settled. Real engines need nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
  /** Cuts the power and gives the engine that is found afterwards, with nothing kept that was not synced. Where it can be done. */
  readonly powerCut?: () => KeyValueEngine
  readonly dispose?: () => void
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface KeyValueConformance {
  readonly test: DeclareTest
  readonly create: () => KeyValueSubject
}

interface Claim {
  readonly title: string
  readonly body: (subject: KeyValueSubject, store: KeyValueStore) => Promise<void>
}

const claim = (title: string, body: Claim['body']): Claim => ({ title, body })

const key = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes)
const text = (value: string): Uint8Array => Uint8Array.from(value, character => character.charCodeAt(0))
const put = (name: string, value: string | undefined): KeyValuePut => ({ key: text(name), value: value === undefined ? undefined : text(value) })
const everything = { from: key(), to: new Uint8Array(40).fill(255) }
const synced = { sync: true }
const unsynced = { sync: false }

const contents: readonly Claim[] = [
  claim('what was put is found, what was not is undefined, what was removed is gone', async (_subject, store) => {
    checkEqual(await store.get(text('a')), undefined, 'a key never put')
    await store.write([put('a', '1'), put('b', ''), { key: key(), value: text('of the empty key') }], synced)
    checkEqual(await store.get(text('a')), text('1'), 'a value')
    checkEqual(await store.get(text('b')), key(), 'an empty value')
    await store.write([put('a', undefined), put('never', undefined)], unsynced)
    checkEqual(await store.get(text('a')), undefined, 'a removed key')
    await store.write([], synced)
  }),
  claim('within one write the last word on a key counts', async (_subject, store) => {
    await store.write([put('a', '1'), put('a', undefined), put('b', undefined), put('b', '2'), put('c', '3'), put('c', '4')], synced)
    checkEqual(await store.get(text('a')), undefined, 'put, then removed')
    checkEqual(await store.get(text('b')), text('2'), 'removed, then put')
    checkEqual(await store.get(text('c')), text('4'), 'put twice')
  }),
  claim('ranges are in the order of unsigned bytes, lower bound in, upper bound out', async (_subject, store) => {
    const keys = [key(0), key(0, 0), key(1), key(127), key(128), key(128, 0), key(255), key(255, 255)]
    await store.write([...keys].reverse().map(each => ({ key: each, value: each })), synced)
    const found = await store.range(everything)
    checkEqual(found.map(([each]) => each), keys, 'all keys')
    checkEqual(found.map(([, value]) => value), keys, 'with their values')
    const keysOf = async (range: Parameters<KeyValueStore['range']>[0]): Promise<Uint8Array[]> =>
      (await store.range(range)).map(([each]) => each)
    checkEqual(await keysOf({ from: key(1), to: key(128) }), [key(1), key(127)], 'bounds')
    checkEqual(await keysOf({ ...everything, limit: 3 }), keys.slice(0, 3), 'limited')
    checkEqual(await keysOf({ ...everything, reverse: true, limit: 2 }), [key(255, 255), key(255)], 'from the end')
    checkEqual(await keysOf({ from: key(1), to: key(128), reverse: true }), [key(127), key(1)], 'bounds from the end')
    checkEqual(await keysOf({ from: key(2), to: key(2) }), [], 'nothing between')
  }),
  claim('a long range comes whole', async (_subject, store) => {
    const count = 5000
    await store.write(Array.from({ length: count }, (_, index) => ({ key: key(index >> 8, index & 255), value: new Uint8Array(20) })), synced)
    checkEqual((await store.range(everything)).length, count, 'entries')
  }),
  claim('overlapping calls are applied in the order made', async (_subject, store) => {
    const seen: Promise<Uint8Array | undefined>[] = []
    const ranges: Promise<readonly (readonly [Uint8Array, Uint8Array])[]>[] = []
    const writes: Promise<void>[] = []
    for (let index = 0; index < 200; index++) {
      writes.push(store.write([{ key: text('a'), value: key(index) }], { sync: index % 50 === 0 }))
      seen.push(store.get(text('a')))
      if (index % 20 === 0) ranges.push(store.range(everything))
    }
    await Promise.all(writes)
    checkEqual((await Promise.all(seen)).map(value => value?.[0]), Array.from({ length: 200 }, (_, index) => index), 'values read')
    checkEqual((await Promise.all(ranges)).map(found => found[0]?.[1][0]), Array.from({ length: 10 }, (_, index) => index * 20), 'ranges read')
  }),
  claim('written bytes are the caller\'s again, and read ones are its own', async (_subject, store) => {
    const name = text('a')
    const value = text('kept')
    await store.write([{ key: name, value }], synced)
    name.fill(0)
    value.fill(0)
    const found = await store.get(text('a'))
    checkEqual(found, text('kept'), 'the value')
    found!.fill(0)
    checkEqual(await store.get(text('a')), text('kept'), 'the value, after the reader changed its copy')
    const [[, ranged] = []] = await store.range(everything)
    ranged!.fill(0)
    checkEqual(await store.get(text('a')), text('kept'), 'the value, after another reader did')
  }),
]

const ownership: readonly Claim[] = [
  claim('a store is found again after it was closed', async ({ engine, path }, store) => {
    await store.write([put('a', '1')], unsynced)
    await store.write([put('b', '2')], synced)
    await store.close()
    const again = await engine.open(path)
    checkEqual((await again.range(everything)).map(([name]) => name), [text('a'), text('b')], 'its keys')
    await again.close()
  }),
  claim('close waits for the calls made before it, and refuses those after', async ({ engine, path }, store) => {
    const written = store.write([put('a', '1')], unsynced)
    const closed = store.close()
    await checkRejects('MR_FILE_FAILED', store.write([put('b', '2')], synced), 'writing to a closing store')
    await written
    await closed
    await store.close()
    await checkRejects('MR_FILE_FAILED', store.get(text('a')), 'reading a closed store')
    await checkRejects('MR_FILE_FAILED', store.range(everything), 'ranging over a closed store')
    const again = await engine.open(path)
    checkEqual(await again.get(text('a')), text('1'), 'the write before close')
    checkEqual(await again.get(text('b')), undefined, 'the write after close')
    await again.close()
  }),
  claim('a store that has to be there already is found, and not made when it is not', async ({ engine, path }, store) => {
    await checkRejects('MR_FILE_NOT_FOUND', engine.open(`${path}-none`, { create: false }), 'opening what is not there')
    await checkRejects('MR_FILE_NOT_FOUND', engine.open(`${path}-none`, { create: false }), 'and the refusal has made nothing')
    await store.write([put('a', '1')], synced)
    await store.close()
    const again = await engine.open(path, { create: false })
    checkEqual(await again.get(text('a')), text('1'), 'what is there')
    await again.close()
  }),
  claim('an open store is locked, by whatever spelling of its path', async ({ engine, path }, store) => {
    await checkRejects('MR_LOG_DIRECTORY_LOCKED', engine.open(path), 'a second open')
    await checkRejects('MR_LOG_DIRECTORY_LOCKED', engine.open(`${path}/../${path.slice(path.lastIndexOf('/') + 1)}/.`), 'by another spelling')
    await store.write([put('a', '1')], synced)
    checkEqual(await store.get(text('a')), text('1'), 'the first goes on')
    await store.close()
    const second = await engine.open(path)
    await second.close()
  }),
  claim('stores at different paths know nothing of one another', async ({ engine, path }, store) => {
    const other = await engine.open(`${path}-other`)
    await store.write([put('a', '1')], synced)
    checkEqual(await other.get(text('a')), undefined, 'in the other')
    await other.close()
  }),
]

const durability: readonly Claim[] = [
  claim('a synced write outlives a power cut, with all writes made before it; a later one does not', async ({ path, powerCut }, store) => {
    await store.write([put('early', '1')], unsynced)
    await store.write([put('synced', '2')], synced)
    await store.write([put('late', '3')], unsynced)
    const found = await powerCut!().open(path)
    checkEqual((await found.range(everything)).map(([name]) => name), [text('early'), text('synced')], 'keys found')
    check(await store.get(text('late')) !== undefined, 'before the cut it was there')
    await found.close()
  }),
]

/** What every KeyValueEngine must do. The power-cut test is declared only for a subject that offers one. */
export function keyValueConformance({ test, create }: KeyValueConformance): void {
  const probe = create()
  probe.dispose?.()
  for (const { title, body } of [...contents, ...ownership, ...(probe.powerCut === undefined ? [] : durability)]) {
    test(title, async () => {
      const subject = create()
      const { engine, path, settle = <T>(promise: Promise<T>) => promise } = subject
      const run = async (): Promise<void> => {
        const store = await engine.open(path)
        try {
          await body(subject, store)
        } finally {
          await store.close()
        }
      }
      try {
        await settle(run())
      } finally {
        subject.dispose?.()
      }
    })
  }
}
