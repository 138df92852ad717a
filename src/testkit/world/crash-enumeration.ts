import { type CrashImagesOptions, type CrashMoment } from './crash-moment.ts'
import { type FileOperation } from './file-faults.ts'
import { type MemoryFileSystem } from './memory-file-system.ts'

/** What is to survive, and which crashes are tried. */
export interface CrashEnumerationOptions extends CrashImagesOptions {
  readonly files: MemoryFileSystem
  /** What is to survive a crash at any of its steps. */
  readonly run: () => void | Promise<void>
  /** Recovers on what is left and says by throwing that something is wrong. `noted` is what `note` gave at that moment. */
  readonly check: (files: MemoryFileSystem, crash: CrashPoint) => void | Promise<void>
  /** Asked at each moment: what the check must know of how far the run had come, such as what was acknowledged. Not to be changed later. */
  readonly note?: () => unknown
}

/** The crash whose image is being looked at. */
export interface CrashPoint {
  /** `before write /data/log, call 17`, or `at the end`. */
  readonly step: string
  /** What of the unsynced changes is in. */
  readonly image: string
  readonly noted: unknown
}

/** What was tried, once every crash was survived. */
export interface CrashEnumeration {
  /** Moments at which a crash leaves something else than at the one before. */
  readonly moments: number
  readonly images: number
}

/** A moment of a run, kept aside. */
export interface KeptMoment {
  /** As `CrashPoint` has it. */
  readonly step: string
  readonly noted: unknown
  readonly moment: CrashMoment<MemoryFileSystem>
}

/**
 * Does a run once, undisturbed, and keeps the moment before each of its calls on the files, and that at its end, unless a crash leaves then
 * what it leaves at the one before, and no more is promised. The same in every run that makes the same calls.
 */
export async function keepCrashMoments({ files, run, note }: Pick<CrashEnumerationOptions, 'files' | 'run' | 'note'>): Promise<KeptMoment[]> {
  const moments: KeptMoment[] = []
  let version: number | undefined
  let calls = 0
  const keep = (step: string): void => {
    const noted = note?.()
    const last = moments.at(-1)
    if (files.version === version && Object.is(last?.noted, noted)) return
    version = files.version
    moments.push({ step, noted, moment: files.crashMoment() })
  }
  const before = files.observe
  files.observe = (operation: FileOperation) => {
    before?.(operation)
    keep(`before ${operation.kind} ${operation.path}, call ${++calls}`)
  }
  try {
    await run()
  } finally {
    files.observe = before
  }
  keep('at the end')
  return moments
}

/**
 * Crashes between all steps of a run: the power is cut before each of its calls on the files, and at the end, and each disk that may be left is
 * checked. The run itself is done once and not disturbed. A check that throws ends it, with the words to find the place again.
 */
export async function enumerateCrashes({ files, run, check, note, ...options }: CrashEnumerationOptions): Promise<CrashEnumeration> {
  const moments = await keepCrashMoments({ files, run, ...(note === undefined ? {} : { note }) })
  let images = 0
  for (const { step, noted, moment } of moments) {
    for (const { what, files: left } of moment.images(options)) {
      images++
      try {
        await check(left, { step, image: what, noted })
      } catch (error) {
        throw new Error(`after a crash ${step}, with ${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
      }
    }
  }
  return { moments: moments.length, images }
}
