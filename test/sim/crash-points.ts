import { deferred } from '../../src/base/deferred.ts'
import { type SimBroker } from '../../src/harness/index.ts'

/** Calls of the process that change its disk. */
const changing = /^(create|make directory|rename|remove|sync directory|write|sync|truncate)$/

export interface CrashPoint {
  /** Resolves when the broker was ended there. */
  readonly crashed: Promise<void>
  /** Calls that changed the disk so far. */
  calls(): number
}

/** Ends the machine's process before the call of this number, from 1, that changes its files or key-value stores. */
export function crashAt(sim: SimBroker, number: number, end: () => void): CrashPoint {
  const { files, keyValues } = sim.machine.process
  const crashed = deferred()
  let calls = 0
  const count = (): void => {
    if (++calls !== number) return
    end()
    crashed.resolve()
  }
  files.observe = ({ kind }) => { if (changing.test(kind)) count() }
  keyValues.failWith = ({ kind }) => {
    if (kind === 'write') count()
    return undefined
  }
  return { crashed: crashed.promise, calls: () => calls }
}
