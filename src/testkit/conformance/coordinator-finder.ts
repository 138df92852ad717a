import { type CoordinatorFinder } from '../../kernel/ports/coordinator-finder.ts'
import { check, checkCode, checkEqual, type DeclareTest } from './kit.ts'

/** A finder that has had the time to load what it needs. */
export interface CoordinatorFinderSubject {
  readonly finder: CoordinatorFinder
  /** Node ids of the brokers there are. */
  readonly brokers: readonly number[]
  /** Lets time pass until the promise is settled. A real one needs nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
}

/** A CoordinatorFinder to examine. */
export interface CoordinatorFinderConformance {
  readonly test: DeclareTest
  readonly create: () => Promise<CoordinatorFinderSubject>
}

/** What every CoordinatorFinder promises. */
export function coordinatorFinderConformance({ test, create }: CoordinatorFinderConformance): void {
  /** How often `done` was called until all that was asked had an answer, and the answers. */
  const askAll = async ({ finder, settle = promise => promise }: CoordinatorFinderSubject, keys: readonly string[]): Promise<(readonly [unknown, number])[]> => {
    const calls = keys.map(() => 0)
    const answers = await settle(Promise.all(keys.map((key, index) => new Promise<readonly [unknown, number]>(resolve => {
      finder.find(key, (error, nodeId) => {
        calls[index]!++
        resolve([error, nodeId])
      })
    }))))
    checkEqual(calls, keys.map(() => 1), 'calls of done')
    return answers
  }

  test('it is for one of the types of keys that there are', async () => {
    const { finder } = await create()
    check([0, 1, 2].includes(finder.keyType), `${finder.keyType} is a type`)
  })
  test('every key has an answer, once, also one that nobody has heard of: a broker, or that there is none now', async () => {
    const subject = await create()
    for (const [error, nodeId] of await askAll(subject, ['orders', 'never-heard-of', 'a'.repeat(1000), 'größe', 'with space'])) {
      if (error === undefined) check(subject.brokers.includes(nodeId), `${nodeId} is one of the brokers`)
      else checkCode('MR_COORDINATOR_UNAVAILABLE', error, 'the answer for a key')
    }
  })
  test('one key has one coordinator, whoever asks and however often', async () => {
    const subject = await create()
    const [first] = await askAll(subject, ['orders'])
    const others = await askAll(subject, Array.from({ length: 20 }, () => 'orders'))
    check(first![0] === undefined, 'it is found')
    checkEqual(others.map(([, nodeId]) => nodeId), others.map(() => first![1]), 'the brokers named')
  })
}
