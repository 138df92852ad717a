/**
 * Hostile inputs made from the grammars of the protocol, of record batches and of files, run against codecs and whole brokers:
 *   npm run fuzz -- --seed 7 --inputs 100000                   all targets
 *   npm run fuzz -- --target batches --minutes 5               one of codecs, batches, formats, requests, frames, files, as long as there is time
 *   npm run fuzz -- --replay test/fuzz/corpus/batches.jsonl:3  one line of the corpus again
 * Ends with 1 when something failed; the input, made small, is in test/fuzz/corpus then. `--keep N` adds the N smallest inputs that reached
 * something new to the corpus. `--unguided` leaves V8's coverage alone.
 */
import { parseArgs } from 'node:util'
import { Coverage } from '../test/fuzz/coverage.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' }, inputs: { type: 'string', default: '100000' }, minutes: { type: 'string', default: '600' },
    target: { type: 'string', default: 'all' }, replay: { type: 'string' }, keep: { type: 'string', default: '0' }, unguided: { type: 'boolean', default: false },
  },
})

// The product is loaded after the coverage was started: V8 counts blocks only in what it compiles from then on.
const coverage = values.unguided || values.replay !== undefined ? undefined : new Coverage()
coverage?.start()
const { runCommand } = await import('../test/fuzz/command.ts')
process.exitCode = await runCommand({
  seed: Number(values.seed), inputs: Number(values.inputs), minutes: Number(values.minutes), target: values.target, replay: values.replay,
  keep: Number(values.keep), coverage,
})
process.exit()
