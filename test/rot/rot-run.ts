import { Prng } from '../../src/base/prng.ts'
import { drawBlock, flipsOf, type Damage } from './damages.ts'
import { writeLibrary } from './library.ts'
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

/**
 * So many cases, half on a disk that was left by a clean stop and half by a kill: flips of bits, spread evenly over all bytes of all files, then
 * damage to blocks. `every` tells how many were run, now and then.
 */
export async function rotRun(seed: number, cases: number, tell: (done: number) => void = () => {}): Promise<RotReport> {
  const ends: Record<CaseEnd, number> = { intact: 0, fenced: 0, refused: 0 }
  const violations: string[] = []
  let [flips, blocks, rottenBatches, logsOut, done] = [0, 0, 0, 0, 0]
  for (const ended of ['stopped', 'killed'] as const) {
    const library = await writeLibrary(ended)
    const prng = new Prng(seed)
    const all = flipsOf(library.files, prng)
    const flipped = Math.min(all.length, Math.floor(cases * 0.35))
    const damages: Damage[] = Array.from({ length: flipped }, (_, index) => all[Math.floor((index + prng.below(1000) / 1000) * all.length / flipped)]!)
    flips += flipped
    while (damages.length < cases / 2) damages.push(drawBlock(library.files, prng))
    blocks += damages.length - flipped
    for (const [index, damage] of damages.entries()) {
      try {
        const result = await runCase(library, damage, seed + index)
        ends[result.end]++
        rottenBatches += result.rotten
        logsOut += result.logsOut
      } catch (error) {
        violations.push(error instanceof Error && error.constructor.name === 'Violation' ? error.message : `${damage.what}; ${ended}: ${error instanceof Error ? error.stack : String(error)}`)
      }
      if (++done % 500 === 0) tell(done)
    }
  }
  return { cases: done, flips, blocks, ends, rottenBatches, logsOut, violations }
}
