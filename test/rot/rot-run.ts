import { Prng } from '../../src/base/prng.ts'
import { drawBlock, flipsOf, type Damage } from './damages.ts'
import { writeLibrary, type Library } from './library.ts'
import { runCase, type CaseEnd } from './rot-case.ts'

export interface RotReport {
  readonly cases: number
  readonly flips: number
  readonly blocks: number
  readonly ends: Readonly<Record<CaseEnd, number>>
  readonly rottenBatches: number
  readonly logsOut: number
  readonly violations: readonly string[]
}

/** The same seed and number of cases in all make the same cases, of which these are some: from one number up to, and without, another. */
export interface RotCases {
  readonly seed: number
  readonly cases: number
  readonly from: number
  readonly to: number
}

interface Series {
  readonly library: Library
  readonly damages: readonly Damage[]
  readonly flips: number
}

/** Flips of bits, spread evenly over all bytes of all files, then damage to blocks. */
async function seriesOf(ended: Library['ended'], seed: number, cases: number): Promise<Series> {
  const library = await writeLibrary(ended)
  const prng = new Prng(seed)
  const all = flipsOf(library.files, prng)
  const flips = Math.min(all.length, Math.floor(cases * 0.35))
  const damages: Damage[] = Array.from({ length: flips }, (_, index) => all[Math.floor((index + prng.below(1000) / 1000) * all.length / flips)]!)
  while (damages.length < cases / 2) damages.push(drawBlock(library.files, prng))
  return { library, damages, flips }
}

let made: { readonly seed: number, readonly cases: number, readonly series: readonly Series[] } | undefined

/** Half on a disk that was left by a clean stop and half by a kill; made once for all calls about the same cases. */
async function allSeries(seed: number, cases: number): Promise<readonly Series[]> {
  if (made?.seed !== seed || made.cases !== cases) made = { seed, cases, series: [await seriesOf('stopped', seed, cases), await seriesOf('killed', seed, cases)] }
  return made.series
}

export async function rotCases({ seed, cases, from, to }: RotCases): Promise<RotReport> {
  const ends: Record<CaseEnd, number> = { intact: 0, fenced: 0, refused: 0 }
  const violations: string[] = []
  let [flips, blocks, rottenBatches, logsOut, number] = [0, 0, 0, 0, 0]
  for (const { library, damages, flips: flipped } of await allSeries(seed, cases)) {
    for (const [index, damage] of damages.entries()) {
      if (number >= from && number < to) {
        if (index < flipped) flips++
        else blocks++
        try {
          const result = await runCase(library, damage, seed + index)
          ends[result.end]++
          rottenBatches += result.rotten
          logsOut += result.logsOut
        } catch (error) {
          const what = error instanceof Error && error.constructor.name === 'Violation' ? error.message : `${damage.what}; ${library.ended}: ${error instanceof Error ? error.stack : String(error)}`
          violations.push(`case ${number}: ${what}`)
        }
      }
      number++
    }
  }
  return { cases: flips + blocks, flips, blocks, ends, rottenBatches, logsOut, violations }
}

/** So many cases, all of them. */
export const rotRun = (seed: number, cases: number): Promise<RotReport> => rotCases({ seed, cases, from: 0, to: cases + 1 })

/** Of parts of one run, in their order. */
export function addReports(left: RotReport, right: RotReport): RotReport {
  const { ends } = left
  return {
    cases: left.cases + right.cases, flips: left.flips + right.flips, blocks: left.blocks + right.blocks,
    ends: { intact: ends.intact + right.ends.intact, fenced: ends.fenced + right.ends.fenced, refused: ends.refused + right.ends.refused },
    rottenBatches: left.rottenBatches + right.rottenBatches, logsOut: left.logsOut + right.logsOut, violations: [...left.violations, ...right.violations],
  }
}
