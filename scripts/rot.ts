/**
 * Damage to a disk between two processes, case by case: a bit flipped, a block zeroed, stale, misdirected or swapped with another, a file cut off; in
 * every file that a store keeps. Then a store starts on it and is asked for everything:
 *   npm run rot -- --seed 7 --cases 20000
 * Ends with 1 when a wrong byte was served, or one was missing without an error.
 */
import { parseArgs } from 'node:util'
import { rotRun } from '../test/rot/rot-run.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' }, cases: { type: 'string', default: '20000' } } })
const beganMs = performance.now()
const report = await rotRun(Number(values.seed), Number(values.cases), done => { console.log(`${done} cases`) })
const { ends } = report
console.log(`seed ${values.seed}: ${report.cases} cases in ${((performance.now() - beganMs) / 1000).toFixed(0)} s: ${report.flips} flipped bits, ${report.blocks} damaged blocks and files`)
console.log(`${ends.intact} served whole, ${ends.fenced} served in part (${report.rottenBatches} batches and ${report.logsOut} logs refused), ${ends.refused} starts refused`)
console.log(`${report.violations.length} violations`)
for (const violation of report.violations.slice(0, 20)) console.log(`  ${violation}`)
process.exit(report.violations.length > 0 ? 1 : 0)
