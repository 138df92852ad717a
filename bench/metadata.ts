/**
 * What a change of the metadata costs with one voter on this disk: topics created one after another, and 32 at a time. Run with
 * `npx tsx bench/metadata.ts [--rounds N] [--topics N]`. Beside it the floor: as many bytes appended to a file and synced, once for each
 * creation. Figures are ms a creation, the median of the rounds.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Controller } from '../src/kernel/ports/controller.ts'
import { scriptOptionsOrExit } from '../scripts/script-options.ts'
import { metadataHost } from '../test/integration/metadata-composition.ts'

const usage = `Usage: npx tsx bench/metadata.ts [OPTIONS]

What a change of the metadata costs, beside a sync of as many bytes.

  --rounds N   measured rounds (default: 5)
  --topics N   topics that are created in each (default: 512)`
const { numbers: { rounds, topics } } = scriptOptionsOrExit(usage, { numbers: { rounds: 5, topics: 512 }, positive: ['rounds', 'topics'] })
const incarnationId = 'B00000000000000000000A'
const base = mkdtempSync(join(tmpdir(), 'millrace-metadata-'))
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

async function creations(directory: string, atOnce: number): Promise<number> {
  const host = metadataHost(directory, incarnationId)
  await host.start()
  const controller = host.get(Controller)
  await controller.registerBroker({ nodeId: 1, incarnationId, endpoints: [], rack: undefined, directoryIds: [] })
  const create = (index: number): Promise<unknown> =>
    controller.createTopics([{ name: `topic-${index}`, partitions: 3, replicationFactor: 1, assignment: undefined, configs: new Map() }], false)
  for (let index = -32; index < 0; index++) await create(1_000_000 + index)
  const start = performance.now()
  for (let index = 0; index < topics; index += atOnce) await Promise.all(Array.from({ length: atOnce }, (_, each) => create(index + each)))
  const took = performance.now() - start
  await host.stop()
  return took / topics
}

function floor(path: string): number {
  const file = openSync(path, 'w')
  const bytes = new Uint8Array(300)
  const start = performance.now()
  for (let count = 0; count < topics; count++) {
    writeSync(file, bytes)
    fdatasyncSync(file)
  }
  const took = performance.now() - start
  closeSync(file)
  return took / topics
}

const figures: { readonly one: number, readonly many: number, readonly floor: number }[] = []
for (let round = 0; round < rounds; round++) {
  figures.push({ one: await creations(join(base, `one-${round}`), 1), many: await creations(join(base, `many-${round}`), 32), floor: floor(join(base, `floor-${round}`)) })
}
rmSync(base, { recursive: true })
const [one, many, sync] = [median(figures.map((each) => each.one)), median(figures.map((each) => each.many)), median(figures.map((each) => each.floor))]
process.stdout.write(`one after another ${one.toFixed(3)} ms, 32 at a time ${many.toFixed(3)} ms, an append with a sync ${sync.toFixed(3)} ms: ${(one / sync).toFixed(1)} syncs each\n`)
