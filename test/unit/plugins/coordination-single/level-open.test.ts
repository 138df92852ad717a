import { describe, expect, it } from 'vitest'
import { openImages } from '../../../crash/open-images.ts'

describe('a power cut while LevelDB opens the metadata', () => {
  it('leaves a store that starts with everything or says what to do, whatever names it made, renamed and removed are on the disk; and what to do gives everything', async () => {
    const { images, refused, whole, made, gone, faults } = await openImages()
    expect(faults).toEqual([])
    // What a LevelDB does at an open, or the images would be of something else.
    expect([made.some((name) => /^MANIFEST-/.test(name)), made.some((name) => /\.ldb$/.test(name)), gone.some((name) => /^MANIFEST-/.test(name)), gone.some((name) => /\.log$/.test(name))]).toEqual([true, true, true, true])
    expect(images).toBe(2 ** gone.length * (2 * 2 ** made.length + 1))
    expect(whole).toBeGreaterThan(10)
    expect(refused).toBeGreaterThan(10)
  })
})
