import { describe, expect, it } from 'vitest'
import { type Damage } from '../../../rot/damages.ts'
import { writeLibrary, type Library, type WrittenLog } from '../../../rot/library.ts'
import { runCase } from '../../../rot/rot-case.ts'

interface Place {
  readonly path: string
  readonly position: number
}

const swap = (one: Place, other: Place, bytes: number): Damage & { readonly places: readonly Place[] } => ({
  places: [one, other],
  what: `${bytes} bytes of ${one.path} at ${one.position} and ${other.path} at ${other.position} swapped`, paths: [one.path, other.path],
  apply: files => { files.damage.swapBlocks(one, other, bytes) },
})
const cut = (path: string, bytes: number): Damage => ({ what: `${path} cut off at ${bytes}`, paths: [path], apply: files => { files.damage.truncate(path, bytes) } })

/** The segments of a log that have batches above its start. */
const segmentsOf = (log: WrittenLog): number[] => [...new Set(log.batches.filter(batch => batch.last >= log.start).map(batch => batch.segmentBase))]
const stemOf = ({ id }: WrittenLog, base: number): string => `/data/${id.topic}-${id.partition}/${String(base).padStart(20, '0')}`

/** What each is refused, served or told wrongly; none. The order and size of reads are another in each. */
async function wrongOf(library: Library, all: readonly (Damage & { readonly places?: readonly Place[] })[]): Promise<string[]> {
  const wrong: string[] = []
  // A file may be too short for it.
  const damages = all.filter(({ places = [] }) => places.every(({ path, position }) => (library.files.stat(path)?.bytes ?? 0) > position))
  expect(damages.length).toBeGreaterThan(all.length / 2)
  for (const [index, damage] of damages.entries()) {
    await runCase(library, damage, index).catch((error: unknown) => { wrong.push(error instanceof Error ? error.message : String(error)) })
  }
  return wrong
}

describe.each(['stopped', 'killed'] as const)('a store that was %s', ended => {
  it('goes by no checksum that is damaged together with the batches it is of', async () => {
    const library = await writeLibrary(ended)
    const damages = library.logs.flatMap(log => segmentsOf(log).flatMap(base => [0, 512, 1024].map(position =>
      swap({ path: `${stemOf(log, base)}.log`, position }, { path: `${stemOf(log, base)}.sum`, position: 0 }, 512))))
    const log = library.logs.find(({ id }) => id.topic === 'zipped')!
    // Entries of the checksums, four by four, with each part of the batches that they are of.
    for (let position = 0; position < 1152; position += 192) {
      for (const entries of [64, 128, 192]) damages.push(swap({ path: `${stemOf(log, 36)}.log`, position }, { path: `${stemOf(log, 36)}.sum`, position: entries }, 64))
    }
    expect(await wrongOf(library, damages)).toEqual([])
    expect(damages.length).toBeGreaterThan(40)
  })

  it('is not led astray by checksums that have changed places', async () => {
    const library = await writeLibrary(ended)
    const all = library.logs.flatMap(log => segmentsOf(log).map(base => `${stemOf(log, base)}.sum`))
    const damages = all.flatMap((path, index) => [64, 128].map(position => swap({ path, position }, { path: all[(index + 1) % all.length]!, position: 192 - position }, 64)))
    expect(await wrongOf(library, damages)).toEqual([])
  })

  it('says of a segment that was cut off between two batches that all behind is gone, and where to read on', async () => {
    const library = await writeLibrary(ended)
    const damages = library.logs.flatMap(log => log.batches.filter(batch => segmentsOf(log).includes(batch.segmentBase) && batch.position % 3 === 0).map(batch => cut(`${stemOf(log, batch.segmentBase)}.log`, batch.position)))
    expect(await wrongOf(library, damages)).toEqual([])
    expect(damages.length).toBeGreaterThan(20)
  })

  it('does not take a damaged end for one that was not written, because the recovery points are lost with it', async () => {
    const library = await writeLibrary(ended)
    const damages = library.logs.map(log => swap({ path: `${stemOf(log, segmentsOf(log).at(-1)!)}.log`, position: 0 }, { path: '/data/recovery-point-offset-checkpoint', position: 0 }, 512))
    expect(await wrongOf(library, damages)).toEqual([])
  })
})
