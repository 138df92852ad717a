/**
 * Kills a real broker under load again and again, and checks that nothing acknowledged is lost, moved or doubled:
 *
 *   npm run crash                                 200 runs, in chunks of 10 on one directory, durability fsync and os in turn
 *   npm run crash -- --runs 50 --seed 7
 *   npm run crash:all -- --hours 8                random seeds, for hours
 *
 * At the end of each chunk Kafka's DumpLogSegments reads the directory, where its jars are installed (.ci/install-peers.sh).
 */
import { ensureBuilt } from '../test/integration/built.ts'
import { crashLoop } from '../test/crash/crash-loop.ts'
import { dumpCheck } from '../test/compat/dump-log-segments.ts'
import { kafkaClassPath } from '../test/compat/peers.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npm run crash [-- OPTIONS]

  --runs N   so many kills, in chunks of ten on one directory (default: 200)
  --seed N   the seed of the first chunk; odd ones run with durability fsync, even ones with os (default: 1)`
const { numbers: { runs, seed: firstSeed } } = scriptOptionsOrExit(usage, { numbers: { runs: 200, seed: 1 } })
const chunk = 10
const startedMs = performance.now()
let acknowledged = 0
let done = 0
let dumped = 0
const faults: string[] = []

ensureBuilt()
for (let seed = firstSeed; done < runs; seed += 1) {
  const durability = seed % 2 === 0 ? 'os' : 'fsync'
  const result = await crashLoop({
    runs: Math.min(chunk, runs - done), seed, durability,
    inspect: async (directory) => {
      if (kafkaClassPath() === undefined) return
      const { complaints } = await dumpCheck(directory, { deepBytesMax: 32_000_000 })
      faults.push(...complaints.map((complaint) => `DumpLogSegments, seed ${seed}: ${complaint}`))
      dumped += 1
    },
  })
  done += result.runs
  acknowledged += result.acknowledged
  faults.push(...result.faults)
  console.log(`seed ${seed} (${durability}): ${done} of ${runs} kills, ${acknowledged.toLocaleString('en')} records acknowledged, ${faults.length} faults, ${Math.round((performance.now() - startedMs) / 1000)} s`)
  if (faults.length > 0) break
}
for (const fault of faults) console.log(`FAULT ${fault}`)
console.log(`${done} kills, ${acknowledged.toLocaleString('en')} records acknowledged, DumpLogSegments read ${dumped} directories, ${faults.length} faults, ${Math.round((performance.now() - startedMs) / 1000)} s`)
process.exitCode = faults.length === 0 ? 0 : 1
