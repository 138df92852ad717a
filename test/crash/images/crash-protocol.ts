import { type CrashImagesOptions } from '../../../src/testkit/index.ts'
import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'

/** What a recovery came to. `fenced`: the product says by an error of the table that it does not serve, where it must not. */
export type Recovery = 'recovered' | 'fenced'

/** One thing that a power cut may leave. */
export interface CrashCase {
  /** What of the unsynced changes is in. */
  readonly what: string
  /** Equal for equal disks. */
  readonly digest: string
  /** Recovers, and throws when something promised is missing, changed, or not the same after another recovery. `number` counts the cases of a run. */
  check(number: number): Promise<Recovery>
}

/** A moment of a protocol at which the power may be cut. */
export interface CrashStep {
  /** `before write /data/log, call 17`. */
  readonly step: string
  /** What is promised then: the same object until it changes. */
  readonly promised: unknown
  /** Whether it is more than at the step before. Default: whether it is something else. */
  readonly promisesMore?: boolean
  cases(bounds: CrashImagesOptions): Iterable<CrashCase>
}

/**
 * A way in which files are changed, of several steps, to be crashed between and inside them. Whoever has files of its own that must survive
 * a power cut adds one to `crashProtocols`.
 */
export interface CrashProtocol {
  readonly name: string
  /** Done once; the same for the same seed. Gives its moments in their order. `spoil` is done to each disk that is used on the way, to show that it is found out. */
  play(seed: number, spoil?: (files: MemoryFileSystem) => void): Promise<readonly CrashStep[]>
}

/** Where a fault was found. */
export interface CrashFault {
  readonly protocol: string
  readonly seed: number
  readonly moment: number
  readonly image: number
  readonly step: string
  readonly what: string
  readonly reason: string
}

export interface ProtocolResult {
  readonly protocol: string
  readonly seed: number
  readonly moments: number
  /** Those that were recovered: one that is equal to another one, with the same promised, is not tried again. */
  readonly images: number
  /** Of the images, those with digests of their own, by which images of several runs may be counted together. */
  readonly digests: ReadonlySet<string>
  readonly fenced: number
  readonly faults: readonly CrashFault[]
}

export interface ProtocolRun extends CrashImagesOptions {
  /** Of the protocol, and of the images by chance. */
  readonly seed: number
  /** Only this moment, and of it only this image, both counted from 0. */
  readonly only?: { readonly moment: number, readonly image: number }
  /** Of more moments, so many are tried, evenly spread. Default: all. */
  readonly momentsMax?: number
  /**
   * So many of the moments at which more is promised than at the one before are tried besides, with nothing that was not synced: what is promised too early is missing
   * then. Default: none, as all moments are tried.
   */
  readonly promisesMax?: number
  /** A run of one seed ends after so many faults. Default 3: more of them tell nothing new. */
  readonly faultsMax?: number
  /** See `CrashProtocol.play`. */
  readonly spoil?: (files: MemoryFileSystem) => void
}

/** Of each protocol a small part, which is tried with every change of the product. */
export const few = { most: 4, random: 1, subsetsOf: 3, momentsMax: 6, promisesMax: 20 } as const

/** Plays a protocol once and recovers each image that a power cut may leave of it. Faults are given, not thrown. */
export async function runProtocol(protocol: CrashProtocol, { seed, only, momentsMax = Infinity, promisesMax = 0, faultsMax = 3, spoil, ...bounds }: ProtocolRun): Promise<ProtocolResult> {
  const steps = await protocol.play(seed, spoil)
  const promising = new Set(chosen(steps.flatMap((step, index) => index > 0 && (step.promisesMore ?? step.promised !== steps[index - 1]!.promised) ? [index] : []), promisesMax))
  const whole = new Set(chosen([...steps.keys()], momentsMax))
  const digests = new Set<string>()
  const faults: CrashFault[] = []
  let [moments, images, fenced] = [0, 0, 0]
  let promisedBefore: unknown
  let tried = new Set<string>()
  for (const [moment, { step, promised, cases }] of steps.entries()) {
    if (promised !== promisedBefore) tried = new Set()
    promisedBefore = promised
    if (only === undefined ? !whole.has(moment) && !promising.has(moment) : only.moment !== moment) continue
    moments++
    let image = -1
    for (const found of cases({ ...bounds, seed: seed + moment })) {
      image++
      if (only !== undefined && only.image !== image) continue
      if (only === undefined && image > 0 && !whole.has(moment)) break
      // The same disk with the same promised has been tried.
      if (only === undefined && tried.size === tried.add(found.digest).size) continue
      images++
      digests.add(found.digest)
      try {
        if (await found.check(moment + image) === 'fenced') fenced++
      } catch (error) {
        faults.push({ protocol: protocol.name, seed, moment, image, step, what: found.what, reason: error instanceof Error ? error.message : String(error) })
        if (faults.length >= faultsMax) return { protocol: protocol.name, seed, moments, images, digests, fenced, faults }
      }
    }
  }
  return { protocol: protocol.name, seed, moments, images, digests, fenced, faults }
}

/** So many of these, evenly spread. */
const chosen = (indexes: readonly number[], most: number): readonly number[] =>
  indexes.filter((_, index) => most >= indexes.length || Math.floor((index + 1) * most / indexes.length) > Math.floor(index * most / indexes.length))

/** The command that tries this one image again. */
export function commandFor({ protocol, seed, moment, image }: Pick<CrashFault, 'protocol' | 'seed' | 'moment' | 'image'>): string {
  return `npm run crash:images -- --protocol '${protocol}' --seed ${seed} --moment ${moment} --image ${image}`
}
