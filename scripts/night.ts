/**
 * Long runs, of random seeds, until the time is over; ends with 1 when a seed failed, and names those that did:
 *   npm run sim:night                     eight hours of the simulation, each seed in a process of its own
 *   npm run sim:night -- --hours 0.5 --operations 2000
 *   npm run crash:all -- --hours 2        two hours of killing a real broker under load, ten times a seed
 * `--first N` draws the same seeds again.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Prng } from '../src/base/prng.ts'
import { longRun, type SeedOutcome } from './long-run.ts'
import { scriptOptionsOrExit } from './script-options.ts'

interface Kind {
  readonly script: string
  /** Its options beside `--seed`, as they are when they are not given. */
  readonly numbers: Readonly<Record<string, number>>
  /** Runs of the simulation can be repeated, those of real processes can not. */
  readonly repeatEvery: number
  /** A run that takes longer hangs. */
  readonly minutesMax: number
}

const kinds: Readonly<Record<string, Kind>> = {
  sim: { script: './sim.ts', numbers: { operations: 10_000 }, repeatEvery: 10, minutesMax: 30 },
  crash: { script: './crash-loop.ts', numbers: { runs: 10 }, repeatEvery: 0, minutesMax: 15 },
}

const name = process.argv.splice(2, 1)[0] ?? ''
const kind = kinds[name]
if (kind === undefined) {
  console.error('error: it is run as npm run sim:night or npm run crash:all')
  process.exit(2)
}
const usage = `Usage: npm run ${name === 'sim' ? 'sim:night' : 'crash:all'} [-- OPTIONS]

  --hours H        end after so many hours, when the seed under way is done (default: 8)
  --first N        draw the seeds from N, as an earlier run says it did (default: by chance)
  ${name === 'sim' ? '--operations N   so many random operations a seed (default: 10000)' : '--runs N         so many kills a seed (default: 10)'}`
const { numbers } = scriptOptionsOrExit(usage, { numbers: { hours: 8, first: randomInt(2 ** 31), ...kind.numbers }, fractions: ['hours'] })
const { hours, first } = numbers
const options = Object.entries(numbers).flatMap(([option, value]) => option in kind.numbers ? [`--${option}`, String(value)] : [])

let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => { isEnding = true })

const script = fileURLToPath(new URL(kind.script, import.meta.url))
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href

function run(seed: number): Promise<SeedOutcome> {
  const { minutesMax } = kind!
  const words = ['--seed', String(seed), ...options]
  const child = spawn(process.execPath, ['--import', loader, script, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    process.stdout.write(text)
  })
  const timer = setTimeout(() => {
    console.log(`seed ${seed}: it is not done after ${minutesMax} minutes, and is ended`)
    child.kill('SIGKILL')
  }, minutesMax * 60_000)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      if (code !== 0 && !isEnding) console.log(`seed ${seed} FAILED (${code ?? 'killed'}): npm run ${name} -- ${words.join(' ')}`)
      resolve({ ok: code === 0, digest: /digest (\S+)/.exec(output)?.[1] })
    })
  })
}

const prng = new Prng(first)
console.log(`seeds drawn from ${first}, for ${hours} hours`)
const { failed } = await longRun({
  hours, repeatEvery: kind.repeatEvery, run, print: console.log, isEnding: () => isEnding,
  nowMs: () => performance.now(), nextSeed: () => Math.floor(prng.float() * 2 ** 31),
})
process.exitCode = failed.length === 0 ? 0 : 1
