/**
 * Kills a real broker under load again and again, and checks that nothing acknowledged is lost, moved or doubled:
 *
 *   npm run crash                                 200 kills: 20 seeds of 10 on one directory each, durability fsync and os in turn
 *   npm run crash -- --runs 50 --seed 7
 *   npm run crash -- --kills 1                    a seed, and a directory, for each kill
 *   npm run crash:all -- --hours 8                random seeds, for hours
 *
 * At the end of each seed Kafka's DumpLogSegments reads the directory, where its jars are installed (.ci/install-peers.sh).
 */
import { ensureBuilt } from '../test/integration/built.ts'
import { crashLoop } from '../test/crash/crash-loop.ts'
import { dumpCheck } from '../test/compat/dump-log-segments.ts'
import { kafkaClassPath } from '../test/compat/peers.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npm run crash [-- OPTIONS]

  --runs N    so many kills (default: 200)
  --kills N   so many of them with one seed, on one directory (default: 10)
  --seed N    the first seed; odd ones run with durability fsync, even ones with os (default: 1)`
const { numbers: { runs, kills, seed: firstSeed } } = scriptOptionsOrExit(usage, { numbers: { runs: 200, kills: 10, seed: 1 } })
const startedMs = performance.now()
let acknowledged = 0
let done = 0
let dumped = 0
const faults: string[] = []

ensureBuilt()
for (let seed = firstSeed; done < runs; seed += 1) {
  const durability = seed % 2 === 0 ? 'os' : 'fsync'
  const result = await crashLoop({
    runs: Math.min(Math.max(1, kills), runs - done), seed, durability,
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
