/**
 * Damage to a disk between two processes, case by case: a bit flipped, a block zeroed, stale, misdirected or swapped with another, a file cut off; in
 * every file that a store keeps. Then a store starts on it and is asked for everything:
 *
 *   npm run rot                                            20,000 cases
 *   npm run rot -- --seed 7 --cases 20000 --jobs 8         others, in eight processes
 *   npm run rot -- --seed 7 --cases 20000 --case 1234      one of them again, as a violation names it
 *
 * Ends with 1 when a wrong byte was served, or one was missing without an error.
 */
import { addReports, rotCases, type RotCases, type RotReport } from '../test/rot/rot-run.ts'
import { scriptOptionsOrExit } from './script-options.ts'
import { isWorker, serveTasks, WorkerPool } from './worker-pool.ts'

const usage = `Usage: npm run rot [-- OPTIONS]

  --cases N   so many cases (default: 20000)
  --seed N    of the cases (default: 1)
  --case N    of these cases this one alone
  --jobs N    processes at work (default: 1)`
const casesOfTask = 100
const shownMax = 40
const progressMs = 30_000

async function main(): Promise<void> {
  const { numbers: { seed, cases, case: one, jobs } } = scriptOptionsOrExit(usage, { numbers: { seed: 1, cases: 20_000, case: -1, jobs: 1 }, positive: ['jobs'] })
  const beganMs = performance.now()
  let saidMs = beganMs
  const seconds = (): string => `${((performance.now() - beganMs) / 1000).toFixed(0)} s`
  let report: RotReport = { cases: 0, flips: 0, blocks: 0, ends: { intact: 0, fenced: 0, refused: 0 }, rottenBatches: 0, logsOut: 0, violations: [] }
  const tasks = function* (): Generator<RotCases> {
    if (one >= 0) return yield { seed, cases, from: one, to: one + 1 }
    // An odd number is made even: half of them on each disk.
    for (let from = 0; from < cases + cases % 2; from += casesOfTask) yield { seed, cases, from, to: Math.min(from + casesOfTask, cases + cases % 2) }
  }
  const take = (part: RotReport): void => {
    report = addReports(report, part)
    for (const violation of part.violations.slice(0, Math.max(0, shownMax - report.violations.length + part.violations.length))) console.log(`VIOLATION ${violation}`)
    if (performance.now() - saidMs < progressMs) return
    saidMs = performance.now()
    console.log(`${report.cases} of ${cases} cases, ${report.violations.length} violations, ${seconds()}`)
  }
  const pool = new WorkerPool<RotCases, RotReport>({ script: import.meta.url, jobs, run: rotCases })
  try {
    await pool.each(tasks(), take)
  } finally {
    pool.close()
  }
  const { ends, violations } = report
  console.log(`seed ${seed}: ${report.cases} cases in ${seconds()}: ${report.flips} flipped bits, ${report.blocks} damaged blocks and files`)
  console.log(`${ends.intact} served whole, ${ends.fenced} served in part (${report.rottenBatches} batches and ${report.logsOut} logs refused), ${ends.refused} starts refused`)
  console.log(`${violations.length} violations${violations.length > shownMax ? `, of which ${shownMax} are above` : ''}`)
  process.exitCode = violations.length > 0 || report.cases === 0 ? 1 : 0
}

if (isWorker()) serveTasks(rotCases)
else await main()
