/**
 * Cuts the power between and inside all steps of every file protocol, and recovers each disk that may be left:
 *
 *   npm run crash:images                        100,000 images
 *   npm run crash:images -- --images 10000 --seed 7
 *   npm run crash:images -- --jobs 8            in eight processes
 *   npm run crash:images -- --protocol truncate --seed 7 --moment 12 --image 3    one image again, as a fault names it
 *
 * Round after round, each of all protocols with the next seed, until there are so many. Ends with 1 when an image was not recovered as promised.
 */
import { installNativeCrc32c } from '../src/platform/codecs/native-crc32c.ts'
import { crashProtocols } from '../test/crash/images/crash-protocols.ts'
import { commandFor, runProtocol, type CrashFault, type ProtocolResult } from '../test/crash/images/crash-protocol.ts'
import { refuseUse, scriptOptionsOrExit } from './script-options.ts'
import { isWorker, serveTasks, WorkerPool } from './worker-pool.ts'

/** Of each moment. */
const bounds = { most: 24, random: 8, subsetsOf: 5 }
const usage = `Usage: npm run crash:images [-- OPTIONS]

  --images N       at least so many images (default: 100000)
  --seed N         the seed of the first round; the next ones count up (default: 1)
  --protocol NAME  only this one
  --moment N --image N   with --protocol and --seed: this image alone
  --moments N      of each run no more moments than so many, spread evenly: a smaller round (default: all)
  --jobs N         processes at work (default: 1)
  -o json          the result as one JSON object on stdout

Protocols: ${crashProtocols.map(({ name }) => name).join(', ')}`

interface Task {
  /** 0: all. */
  readonly moments: number
  readonly protocol: string
  readonly seed: number
}

interface Answer extends Omit<ProtocolResult, 'digests'> {
  readonly digests: readonly string[]
  readonly ms: number
}

/** What all runs of one protocol came to. */
interface Row {
  runs: number
  moments: number
  images: number
  fenced: number
  faults: number
  ms: number
  readonly digests: Set<string>
}

async function answer({ protocol, seed, moments }: Task): Promise<Answer> {
  const beganMs = performance.now()
  const { digests, ...result } = await runProtocol(crashProtocols.find(({ name }) => name === protocol)!, { seed, ...bounds, ...(moments > 0 ? { momentsMax: moments } : {}) })
  return { ...result, digests: [...digests], ms: performance.now() - beganMs }
}

/** Whole rounds, so that the same options try the same images. */
async function runAll(names: readonly string[], { seed: first, images: wanted, moments }: { readonly seed: number, readonly images: number, readonly moments: number }, pool: WorkerPool<Task, Answer>, see: (answer: Answer) => void): Promise<void> {
  let images = 0
  for (let seed = first; images < wanted; seed++) {
    let [found, faults] = [0, 0]
    await pool.each(names.map(protocol => ({ protocol, seed, moments })), result => {
      found += result.images
      faults += result.faults.length
      see(result)
    })
    images += found
    if (faults > 0 || found === 0) return
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

async function main(): Promise<void> {
  const { numbers, texts } = scriptOptionsOrExit(usage, {
    numbers: { images: 100_000, seed: 1, moment: -1, image: -1, moments: 0, jobs: 1 }, texts: { protocol: '', output: 'text' }, choices: { protocol: crashProtocols.map(({ name }) => name) }, positive: ['jobs'],
  })
  const { protocol, output } = texts as { readonly protocol: string, readonly output: string }
  const names = crashProtocols.map(({ name }) => name).filter(name => protocol === '' || name === protocol)
  const isOne = numbers.moment >= 0 && numbers.image >= 0
  if (isOne && protocol === '') refuseUse(usage, '--moment and --image need --protocol')
  const beganMs = performance.now()
  const say = (line: string): void => { if (output === 'text') console.log(line) }
  const faults: CrashFault[] = []
  const rows = new Map<string, Row>()
  const take = ({ protocol: name, seed, moments, images, fenced, digests, ms, faults: found }: Answer): void => {
    const row = rows.get(name) ?? { runs: 0, moments: 0, images: 0, fenced: 0, faults: 0, ms: 0, digests: new Set<string>() }
    rows.set(name, row)
    row.runs++
    row.moments += moments
    row.images += images
    row.fenced += fenced
    row.faults += found.length
    row.ms += ms
    for (const digest of digests) row.digests.add(digest)
    faults.push(...found)
    say(`${name}, seed ${seed}: ${moments} moments, ${images} images, ${found.length} faults, ${seconds(ms)}`)
    for (const fault of found) say(`FAULT ${fault.protocol}, seed ${fault.seed}, ${fault.step}, with ${fault.what}: ${fault.reason}\n  to see it again: ${commandFor(fault)}`)
  }
  if (isOne) {
    const { digests, ...result } = await runProtocol(crashProtocols.find(({ name }) => name === protocol)!, { seed: numbers.seed, only: { moment: numbers.moment, image: numbers.image }, ...bounds })
    take({ ...result, digests: [...digests], ms: performance.now() - beganMs })
  } else {
    const pool = new WorkerPool<Task, Answer>({ script: import.meta.url, jobs: numbers.jobs, run: answer })
    try {
      await runAll(names, numbers, pool, take)
    } finally {
      pool.close()
    }
  }
  report(rows, faults, performance.now() - beganMs, output === 'json')
  process.exitCode = faults.length === 0 && [...rows.values()].some(({ images }) => images > 0) ? 0 : 1
}

function report(rows: ReadonlyMap<string, Row>, faults: readonly CrashFault[], ms: number, asJson: boolean): void {
  const all = [...rows].map(([protocol, { digests, ms: ownMs, ...row }]) => ({ protocol, ...row, distinct: digests.size, ms: Math.round(ownMs) }))
  const distinct = new Set([...rows.values()].flatMap(({ digests }) => [...digests])).size
  const sum = (of: (row: typeof all[number]) => number): number => all.reduce((total, row) => total + of(row), 0)
  const total = {
    runs: sum(row => row.runs), moments: sum(row => row.moments), images: sum(row => row.images), distinct, fenced: sum(row => row.fenced), faults: sum(row => row.faults), ms: Math.round(ms),
  }
  if (asJson) return console.log(JSON.stringify({ protocols: all, total, faults: faults.map(fault => ({ ...fault, again: commandFor(fault) })) }, null, 2))
  console.log(`\n${'protocol'.padEnd(36)}${['runs', 'moments', 'images', 'distinct', 'fenced', 'faults', 'time'].map(name => name.padStart(10)).join('')}`)
  for (const { protocol, ...row } of [...all, { protocol: 'total', ...total }]) {
    const { runs, moments, images, distinct: own, fenced, faults: found, ms: tookMs } = row
    console.log(protocol.padEnd(36) + [runs, moments, images, own, fenced, found].map(number => number.toLocaleString('en').padStart(10)).join('') + seconds(tookMs).padStart(10))
  }
}

// As in the product: it changes the speed and nothing else.
installNativeCrc32c()
if (isWorker()) serveTasks(answer)
else await main()
