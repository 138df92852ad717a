import { type Random } from '../../kernel/ports/clock.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** A Random to examine. */
export interface RandomConformance {
  readonly test: DeclareTest
  /** Called for each test; from another seed or not. */
  readonly create: () => Random
}

/** What every Random promises. Bounds are six standard deviations wide and more: a fair one fails once in many millions of runs. */
export function randomConformance({ test, create }: RandomConformance): void {
  const claim = (title: string, body: (random: Random) => void): void => {
    test(title, async () => { body(create()) })
  }

  claim('fractions lie in [0, 1), and each tenth of it gets its share', random => {
    const tenths = new Array<number>(10).fill(0)
    for (let draw = 0; draw < 20_000; draw++) {
      const fraction = random.fraction()
      check(fraction >= 0 && fraction < 1, `${fraction} lies in [0, 1)`)
      tenths[Math.floor(fraction * 10)]!++
    }
    tenths.forEach((count, tenth) => { check(Math.abs(count - 2000) < 300, `tenth ${tenth} has ${count} of 20,000 draws`) })
  })
  claim('fractions have more than 32 bits: of 20,000 no two are equal', random => {
    const drawn = new Set(Array.from({ length: 20_000 }, () => random.fraction()))
    check(drawn.size > 19_990, `${drawn.size} of 20,000 fractions are different`)
  })
  claim('there are as many bytes as were asked for: none, one, and more than a pool may hold', random => {
    for (const length of [0, 1, 16, 4095, 4096, 4097, 100_000]) checkEqual(random.bytes(length).length, length, `bytes of ${length}`)
  })
  claim('every bit of the bytes is set in half of them', random => {
    const bytes = random.bytes(40_000)
    for (let bit = 0; bit < 8; bit++) {
      const set = bytes.reduce((sum, byte) => sum + (byte >> bit & 1), 0)
      check(Math.abs(set - 20_000) < 1000, `bit ${bit} is set in ${set} of 40,000 bytes`)
    }
  })
  claim('bytes are fresh and the caller\'s: no later call gives them again, or changes them', random => {
    const first = random.bytes(32)
    const kept = Uint8Array.from(first)
    const others = Array.from({ length: 500 }, () => random.bytes(32))
    checkEqual(first, kept, 'the first bytes, after others were drawn')
    checkEqual(new Set([first, ...others].map(String)).size, 501, 'different draws')
    first.fill(0)
    check(random.bytes(32).some(byte => byte !== 0), 'bytes drawn after others were overwritten')
  })
}
