/**
 * Hostile inputs made from the grammars of the protocol, of record batches and of files, run against codecs and whole brokers:
 *   npm run fuzz -- --seed 7 --inputs 100000                   all targets
 *   npm run fuzz -- --target batches --minutes 5               one of codecs, batches, formats, requests, frames, files, as long as there is time
 *   npm run fuzz -- --replay test/fuzz/corpus/batches.jsonl:3  one line of the corpus again
 * Ends with 1 when something failed; the input, made small, is in test/fuzz/corpus then. `--keep N` adds the N smallest inputs that reached
 * something new to the corpus. `--unguided` leaves V8's coverage alone.
 */
import { Coverage } from '../test/fuzz/coverage.ts'
import { targetNames } from '../test/fuzz/target.ts'
import { refuseUse, scriptOptionsOrExit } from './script-options.ts'

const usage = `Usage: npm run fuzz [-- OPTIONS]

  --seed N         what the inputs are drawn from (default: 1)
  --inputs N       so many of each target (default: 100000)
  --minutes N      end after so many, whatever is left (default: 600)
  --target NAME    one of ${targetNames.join(', ')} (default: all)
  --replay F:LINE  one line of a file of test/fuzz/corpus again
  --keep N         add the N smallest inputs that reached something new to the corpus (default: 0)
  --unguided       leave V8's coverage alone`
const { numbers: { seed, inputs, minutes, keep }, texts, flags } = scriptOptionsOrExit(usage, {
  numbers: { seed: 1, inputs: 100_000, minutes: 600, keep: 0 }, fractions: ['minutes'], texts: { target: 'all', replay: '' }, choices: { target: ['all', ...targetNames] }, flags: ['unguided'],
})
const replay = texts['replay'] === '' ? undefined : texts['replay']

// The product is loaded after the coverage was started: V8 counts blocks only in what it compiles from then on.
const coverage = flags.has('unguided') || replay !== undefined ? undefined : new Coverage()
coverage?.start()
const { replayProblem, runCommand } = await import('../test/fuzz/command.ts')
const problem = replay === undefined ? undefined : replayProblem(replay)
if (problem !== undefined) refuseUse(usage, problem)
process.exitCode = await runCommand({
  seed, inputs, minutes, target: texts['target']!, replay, keep, coverage,
})
process.exit()
