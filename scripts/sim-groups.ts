/**
 * Groups of both protocols in virtual time: members come, go, stop and stand still, change the protocol, messages are lost and repeated, the coordinator crashes with the end of its log,
 * topics grow; the history of each run is judged:
 *
 *   npm run sim:groups                            2,000 seeds
 *   npm run sim:groups -- --seed 7 --seeds 1      one again
 *   npm run sim:groups -- --jobs 2                in two processes
 *
 * It goes on after a failure, up to ten; ends with 1 and the seeds that failed.
 */
import { runGroup, type GroupRun } from '../test/sim/workload/group-protocols.ts'
import { scriptOptionsOrExit } from './script-options.ts'
import { isWorker, serveTasks, WorkerPool } from './worker-pool.ts'

const usage = `Usage: npm run sim:groups [-- OPTIONS]

  --seed N    the first seed (default: 1)
  --seeds N   so many, one after another (default: 2000)
  --jobs N    processes at work (default: 1)
  -o json     the result as one JSON object on stdout`
const failuresMax = 10

interface Task {
  readonly seed: number
}

const run = ({ seed }: Task): Promise<GroupRun> => Promise.resolve(runGroup(seed))

async function main(): Promise<void> {
  const { numbers: { seed: first, seeds, jobs }, texts: { output } } = scriptOptionsOrExit(usage, { numbers: { seed: 1, seeds: 2000, jobs: 1 }, texts: { output: 'text' }, positive: ['jobs'] })
  const total = { seeds: 0, clients: 0, events: 0, commits: 0, crashes: 0, migrations: 0, simulatedMs: 0 }
  const failed: number[] = []
  const beganMs = performance.now()
  const tasks = function* (): Generator<Task> {
    for (let seed = first; seed < first + seeds && failed.length < failuresMax; seed++) yield { seed }
  }
  const pool = new WorkerPool<Task, GroupRun>({ script: import.meta.url, jobs, run })
  try {
    await pool.each(tasks(), (result, { seed }) => {
      total.seeds++
      for (const key of ['clients', 'events', 'commits', 'crashes', 'migrations', 'simulatedMs'] as const) total[key] += result[key]
      if (result.faults.length === 0) return
      failed.push(seed)
      console.error(`seed ${seed} FAILED: ${result.faults.slice(0, 3).join('; ')}`)
    })
  } finally {
    pool.close()
  }
  failed.sort((left, right) => left - right)
  const result = { ...total, seconds: Math.round((performance.now() - beganMs) / 100) / 10, failed }
  if (output === 'json') console.log(JSON.stringify(result, null, 2))
  else {
    const count = (value: number): string => value.toLocaleString('en')
    console.log(`${result.seeds} seeds, ${count(result.clients)} clients, ${count(result.crashes)} crashes, ${count(result.migrations)} migrations, ${count(result.commits)} commits answered, ${count(result.events)} events judged, ${failed.length} failed${failed.length === 0 ? '' : `: ${failed.join(', ')}`}, ${result.seconds} s`)
  }
  process.exitCode = failed.length === 0 ? 0 : 1
}

if (isWorker()) serveTasks(run)
else await main()
