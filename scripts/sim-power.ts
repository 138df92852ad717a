/**
 * The power of a whole simulated machine is cut at random moments under load, while its disk fails in other ways too; at the end everything that an acks=all
 * producer was told and any consumer was given has to be there, the same:
 *
 *   npm run sim:power                            5,000 seeds
 *   npm run sim:power -- --seed 7 --seeds 1      one again
 *   npm run sim:power -- --jobs 8                in eight processes
 *
 * It goes on after a failure, up to ten; ends with 1 and the seeds that failed.
 */
import { runPowerCuts, type PowerCutsRun } from '../test/sim/workload/power-cuts.ts'
import { scriptOptionsOrExit } from './script-options.ts'
import { isWorker, serveTasks, WorkerPool } from './worker-pool.ts'

const usage = `Usage: npm run sim:power [-- OPTIONS]

  --seed N    the first seed (default: 1)
  --seeds N   so many, one after another (default: 5000)
  --cuts N    power cuts of each, beside the last one (default: 3)
  --jobs N    processes at work (default: 1)
  -o json     the result as one JSON object on stdout`
const failuresMax = 10
const progressMs = 30_000

interface Task {
  readonly seed: number
  readonly cuts: number
}

/** What a seed came to, or in words what went wrong. */
type Answer = PowerCutsRun | { readonly failed: string }

async function run({ seed, cuts }: Task): Promise<Answer> {
  try {
    return await runPowerCuts(seed, cuts)
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

async function main(): Promise<void> {
  const { numbers: { seed: first, seeds, cuts, jobs }, texts: { output } } = scriptOptionsOrExit(usage, { numbers: { seed: 1, seeds: 5000, cuts: 3, jobs: 1 }, texts: { output: 'text' }, positive: ['jobs'] })
  const total = { seeds: 0, acknowledged: 0, seen: 0, operations: 0, events: 0, simulatedMs: 0, redoFilesReused: 0, compactions: 0, recordsCompacted: 0, recordsDeleted: 0, topicsDeleted: 0, severalDirectories: 0 }
  const faults = new Map<string, number>()
  const failed: number[] = []
  const beganMs = performance.now()
  let saidMs = beganMs
  const say = (line: string): void => { if (output === 'text') console.log(line) }
  const seconds = (): number => Math.round((performance.now() - beganMs) / 100) / 10
  const tasks = function* (): Generator<Task> {
    for (let seed = first; seed < first + seeds && failed.length < failuresMax; seed++) yield { seed, cuts }
  }
  const take = (answer: Answer, { seed }: Task): void => {
    total.seeds++
    if ('failed' in answer) {
      failed.push(seed)
      console.error(`seed ${seed} FAILED: ${answer.failed}`)
    } else {
      if (seeds === 1) say(`seed ${seed} digest ${answer.digest}`)
      for (const key of ['acknowledged', 'seen', 'operations', 'events', 'simulatedMs', 'redoFilesReused', 'compactions', 'recordsCompacted', 'recordsDeleted', 'topicsDeleted'] as const) total[key] += answer[key]
      if (answer.directories > 1) total.severalDirectories++
      for (const [what, count] of Object.entries(answer.faults)) faults.set(what, (faults.get(what) ?? 0) + count)
    }
    if (performance.now() - saidMs < progressMs) return
    saidMs = performance.now()
    say(`${total.seeds} of ${seeds} seeds, ${failed.length} failed, ${seconds()} s, ${(total.seeds / seconds()).toFixed(2)} seeds a second`)
  }
  const pool = new WorkerPool<Task, Answer>({ script: import.meta.url, jobs, run })
  try {
    await pool.each(tasks(), take)
  } finally {
    pool.close()
  }
  failed.sort((left, right) => left - right)
  const result = { ...total, simulatedMs: Math.round(total.simulatedMs), cuts: total.seeds * (cuts + 1), seconds: seconds(), failed, faults: Object.fromEntries([...faults].sort()) }
  if (output === 'json') console.log(JSON.stringify(result, null, 2))
  else {
    for (const [what, count] of Object.entries(result.faults)) console.log(`${count.toLocaleString('en').padStart(12)} ${what}`)
    for (const [what, count] of Object.entries({
      'redo files freed to be used again': result.redoFilesReused, 'records deleted by DeleteRecords': result.recordsDeleted, 'topics deleted': result.topicsDeleted, 'rounds of compaction': result.compactions,
      'records that compaction took': result.recordsCompacted, 'seeds with two data directories': result.severalDirectories,
    })) console.log(`${count.toLocaleString('en').padStart(12)} ${what}`)
    console.log(`${result.seeds} seeds, ${result.cuts} power cuts, ${result.acknowledged.toLocaleString('en')} records acknowledged to acks=all, ${result.seen.toLocaleString('en')} given to consumers, ${failed.length} failed${failed.length === 0 ? '' : `: ${failed.join(', ')}`}, ${result.seconds} s`)
  }
  process.exitCode = failed.length === 0 ? 0 : 1
}

if (isWorker()) serveTasks(run)
else await main()
