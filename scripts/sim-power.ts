/**
 * The power of a whole simulated machine is cut at random moments under load, while its disk fails in other ways too; at the end everything that an acks=all
 * producer was told and any consumer was given has to be there, the same:
 *
 *   npm run sim:power                            5,000 seeds
 *   npm run sim:power -- --seed 7 --seeds 1      one again
 *
 * It goes on after a failure, up to ten; ends with 1 and the seeds that failed.
 */
import { runPowerCuts } from '../test/sim/workload/power-cuts.ts'
import { scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npm run sim:power [-- OPTIONS]

  --seed N    the first seed (default: 1)
  --seeds N   so many, one after another (default: 5000)
  --cuts N    power cuts of each, beside the last one (default: 3)
  -o json     the result as one JSON object on stdout`
const { numbers: { seed: first, seeds, cuts }, texts: { output } } = scriptOptionsOrExit(usage, { numbers: { seed: 1, seeds: 5000, cuts: 3 }, texts: { output: 'text' } })
const failuresMax = 10
const progressMs = 30_000

const total = { seeds: 0, acknowledged: 0, seen: 0, operations: 0, events: 0, simulatedMs: 0 }
const faults = new Map<string, number>()
const failed: number[] = []
const beganMs = performance.now()
let saidMs = beganMs
const say = (line: string): void => { if (output === 'text') console.log(line) }
const seconds = (): number => Math.round((performance.now() - beganMs) / 100) / 10

for (let seed = first; seed < first + seeds && failed.length < failuresMax; seed++) {
  try {
    const run = await runPowerCuts(seed, cuts)
    if (seeds === 1) say(`seed ${seed} digest ${run.digest}`)
    for (const key of ['acknowledged', 'seen', 'operations', 'events', 'simulatedMs'] as const) total[key] += run[key]
    for (const [what, count] of Object.entries(run.faults)) faults.set(what, (faults.get(what) ?? 0) + count)
  } catch (error) {
    failed.push(seed)
    console.error(`seed ${seed} FAILED: ${error instanceof Error ? error.message : String(error)}`)
  }
  total.seeds++
  if (performance.now() - saidMs < progressMs) continue
  saidMs = performance.now()
  say(`${total.seeds} of ${seeds} seeds, ${failed.length} failed, ${seconds()} s, ${(total.seeds / seconds()).toFixed(2)} seeds a second`)
}

const result = { ...total, simulatedMs: Math.round(total.simulatedMs), cuts: total.seeds * (cuts + 1), seconds: seconds(), failed, faults: Object.fromEntries([...faults].sort()) }
if (output === 'json') console.log(JSON.stringify(result, null, 2))
else {
  for (const [what, count] of Object.entries(result.faults)) console.log(`${count.toLocaleString('en').padStart(12)} ${what}`)
  console.log(`${result.seeds} seeds, ${result.cuts} power cuts, ${result.acknowledged.toLocaleString('en')} records acknowledged to acks=all, ${result.seen.toLocaleString('en')} given to consumers, ${failed.length} failed${failed.length === 0 ? '' : `: ${failed.join(', ')}`}, ${result.seconds} s`)
}
process.exitCode = failed.length === 0 ? 0 : 1
