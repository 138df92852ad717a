import { type CrashProtocol, type CrashStep } from './crash-protocol.ts'
import { keepCrashMoments } from '../../../src/testkit/index.ts'
import { promisesMore, type StorePromises } from './log-promise.ts'
import { redoGoesRound } from './redo-goes-round.ts'
import { checkStore } from './store-check.ts'
import { StoreStage, type StageOptions } from './store-stage.ts'

export interface StoreScript<Prepared> extends StageOptions {
  readonly name: string
  /** Other options for some seeds. */
  readonly vary?: (seed: number) => StageOptions
  /** What comes before, undisturbed; without it a store is started. */
  readonly prepare?: (stage: StoreStage) => Prepared | Promise<Prepared>
  /** What is crashed between and inside its steps. All of it is done to the disk that is there when it begins: a power cut or a kill belongs in `prepare`. */
  readonly run: (stage: StoreStage, prepared: Prepared) => unknown
}

/** A protocol of the log store: every image is recovered by a store of the same settings. */
export function storeProtocol<Prepared = void>({ name, prepare, run, vary, ...fixed }: StoreScript<Prepared>): CrashProtocol {
  return {
    name,
    async play(seed, spoil) {
      const varied = vary?.(seed)
      const options: StageOptions = { ...fixed, ...varied, config: { ...fixed.config, ...varied?.config }, disk: { ...fixed.disk, ...varied?.disk } }
      const stage = new StoreStage(seed, options, spoil)
      if (prepare === undefined) await stage.start()
      const prepared = await prepare?.(stage) as Prepared
      stage.beginMoments()
      const moments = await keepCrashMoments({ files: stage.files, run: async () => { await run(stage, prepared) }, note: () => stage.ledger.promises })
      stage.end()
      const steps = moments.map(({ step, noted, moment }, index): CrashStep => ({
        step, promised: noted, promisesMore: index > 0 && promisesMore(moments[index - 1]!.noted as StorePromises, noted as StorePromises),
        *cases(bounds) {
          for (const { what, files } of moment.images(bounds)) {
            yield { what, digest: files.contentDigest(), check: (number: number) => checkStore(files, noted as StorePromises, options, number) }
          }
        },
      }))
      return [...steps, notCrashed(stage, options)]
    },
  }
}

/** What goes on after all of it, without a crash. */
function notCrashed(stage: StoreStage, options: StageOptions): CrashStep {
  return {
    step: 'without a crash', promised: undefined,
    *cases() {
      yield {
        what: 'all that was done', digest: 'none',
        check: async () => {
          await redoGoesRound(stage.store, stage.timers, options)
          return 'recovered'
        },
      }
    },
  }
}
