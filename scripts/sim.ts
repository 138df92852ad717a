/**
 * A whole broker with clients in virtual time, its operations drawn from a seed, watched by the checkers of test/sim/checkers:
 *   npm run sim -- --seed 7                     one run of 10,000 operations, as the test makes it
 *   npm run sim -- --seed 7 --seeds 100         a hundred seeds, from 7 on
 *   npm run sim -- --seed 7 --operations 500    a short one
 * Prints a line a run; ends with 1 and the report of the first violation. `npm run sim:night` runs random seeds for hours.
 */
import { runWholeBroker } from '../test/sim/workload/whole-broker.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npm run sim [-- OPTIONS]

  --seed N         the first seed (default: 1)
  --seeds N        so many, one after another (default: 1)
  --operations N   so many random operations each (default: 10000)
  --counts         how often each operation was done, and each error met`
const { numbers: { seed: first, seeds, operations }, flags } = scriptOptionsOrExit(usage, { numbers: { seed: 1, seeds: 1, operations: 10_000 }, flags: ['counts'] })

try {
  for (let seed = first; seed < first + seeds; seed++) {
    const beganMs = performance.now()
    const { digest, events, simulatedMs, counts } = await runWholeBroker(seed, operations)
    console.log(`seed ${seed} digest ${digest} operations ${operations} events ${events} simulated ${Math.round(simulatedMs)} ms in ${Math.round(performance.now() - beganMs)} ms`)
    if (flags.has('counts')) for (const [what, count] of [...counts].sort()) console.log(`  ${count.toString().padStart(6)} ${what}`)
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
