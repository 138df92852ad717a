import { describe, expect, it } from 'vitest'
import { metadataImages } from '../../../crash/metadata-images.ts'

// npm run crash:metadata tries thousands.
describe('metadata that a real LevelDB has written', () => {
  it('is refused or whole, whatever is damaged: bits, blocks and ends of each file, and the last records of the log', async () => {
    const { images, kinds, salvaged, faults } = await metadataImages({ images: 260, seed: 1 })
    expect(faults).toEqual([])
    expect(images).toBe(260)
    expect(salvaged).toBeGreaterThan(20)
    expect(Object.keys(kinds)).toEqual(expect.arrayContaining(['log cut', 'log and witness', 'CURRENT removed', 'MANIFEST removed', 'ldb removed', 'witness removed', 'log bit', 'ldb bit', 'witness bit']))
    expect(kinds['witness bit']!.whole).toBeGreaterThan(0)
  })

  it('would lose commands and terms without a trace if the witness agreed to everything', async () => {
    const { faults } = await metadataImages({ images: 120, seed: 1, isBlind: true })
    expect(faults.filter((fault) => / acknowledged$/.test(fault)).length).toBeGreaterThan(10)
    expect(faults.some((fault) => /term \d+ is led again/.test(fault))).toBe(true)
  })
})
