import { describe, expect, it } from 'vitest'
import { readCorpus } from './corpus.ts'
import { fuzz, replay } from './fuzz-run.ts'
import { knownFailures } from './known-failures.ts'
import { type TargetName, targetNames } from './target.ts'
import { openTarget } from './targets/open-target.ts'

/** What a run of CI adds to the corpus: quick, and the same each time. `npm run fuzz` is for more. */
const inputs: Readonly<Record<TargetName, number>> = { codecs: 3000, batches: 1200, formats: 2000, requests: 600, frames: 100, files: 60 }
const seed = Number(process.env['SEED'] ?? 1)

describe.each(targetNames)('%s', name => {
  const corpus = readCorpus(name)

  it('every input of the corpus does no harm, or the harm that is known', async () => {
    const { failures, known } = await replay(() => openTarget(name, seed), corpus)
    expect(failures.map(({ message }) => message)).toEqual([])
    // What does not fail any more is to be taken off the list.
    expect([...known.keys()].map(({ defect }) => defect).sort()).toEqual(knownFailures.filter(({ target }) => target === name).map(({ defect }) => defect).sort())
  })

  it(`new inputs (seed ${seed}) crash nothing, take no more memory than twice themselves and the limit, and honest use goes on`, async () => {
    const { failures, meters } = await fuzz(() => openTarget(name, seed), { seed, inputs: inputs[name] })
    expect(failures.map(({ message, input }) => `${message}: ${input?.kind} ${Buffer.from(input?.bytes ?? []).toString('base64')}`)).toEqual([])
    expect(meters.inputs).toBeGreaterThan(inputs[name] * 0.9)
  })
})
