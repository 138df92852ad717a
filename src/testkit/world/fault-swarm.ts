import { type Prng } from '../../base/prng.ts'
import { type FileFault, nameOfFault } from './file-faults.ts'

const failing = ['open', 'create', 'list', 'stat', 'make directory', 'rename', 'remove', 'sync directory', 'size', 'read', 'write', 'truncate'] as const

/** Every kind of fault that a running disk can have, at its plainest: a table to draw from, or to go through. */
export const fileFaultKinds: readonly FileFault[] = [
  ...failing.map(operation => ({ operation, error: 'EIO' } as const)),
  { operation: 'create', error: 'ENOSPC' },
  { operation: 'write', error: 'ENOSPC' },
  { operation: 'write', error: 'ENOSPC', keptBytes: 'by chance' },
  { operation: 'write', error: 'EIO', keptBytes: 'by chance' },
  { operation: 'sync', error: 'EIO', blocks: 'keep' },
  { operation: 'sync', error: 'EIO', blocks: 'drop' },
  { operation: 'sync', error: 'EIO', blocks: 'some' },
  { operation: 'open', error: 'EMFILE' },
  { operation: 'create', error: 'EACCES' },
  { operation: 'read', damage: 'bit flipped' },
  { operation: 'read', damage: 'block zeroed' },
  { operation: 'read', damage: 'block stale' },
  { operation: 'read', damage: 'block misdirected' },
  { operation: 'write', damage: 'misdirected' },
  { operation: 'write', damage: 'lost' },
  { operation: 'sync', damage: 'lie' },
  { operation: 'sync directory', damage: 'lie' },
  { operation: 'sync', delayMs: 1000 },
  { operation: 'read', delayMs: 1000 },
]

/** From which faults a swarm is drawn. */
export interface FaultSwarmOptions {
  /** Which kinds may be drawn, by their names as `nameOfFault` has them. Default: all. A caller leaves out what its subject cannot survive. */
  readonly allow?: (name: string, fault: FileFault) => boolean
  readonly path?: string | RegExp
  /** The highest probability that a matching call is hit. Default 0.05. */
  readonly chanceMax?: number
}

/**
 * Faults by chance for one run: a random half of the kinds, each at a rate of its own between next to nothing and the highest. Runs in
 * which everything goes wrong a little are all alike; those that leave faults out find more. Delays last up to two minutes.
 */
export function faultSwarm(prng: Prng, { allow = () => true, path, chanceMax = 0.05 }: FaultSwarmOptions = {}): FileFault[] {
  return fileFaultKinds.filter(fault => allow(nameOfFault(fault), fault)).filter(() => prng.chance(0.5)).map(fault => {
    const chance = chanceMax * 10 ** -(3 * prng.float())
    const delays = 'delayMs' in fault ? { delayMs: () => 10 ** (prng.float() * 5.08) } : {}
    return { ...fault, ...delays, chance, ...(path === undefined ? {} : { path }) } as FileFault
  })
}
