import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { scriptOptionsOrExit } from './script-options.ts'

export interface Part {
  readonly name: string
  readonly command: readonly string[]
}

export interface Outcome {
  readonly ok: boolean
  readonly output: string
}

/**
 * Everything that is looked at before a commit: types and lint, one after the other, beside the quick tests, so that two processors are busy.
 * Each part's output is printed whole, when it has ended. Fails when one of them does, and says which.
 */
const parts: readonly (readonly Part[])[] = [
  [
    { name: 'types', command: ['npm', 'run', '--silent', 'types'] },
    { name: 'lint', command: ['npm', 'run', '--silent', 'lint'] },
  ],
  [
    { name: 'tests', command: ['npm', 'run', '--silent', 'test', '--', '--project', 'unit', '--project', 'conformance', '--project', 'meta'] },
  ],
]

/** Runs the parts of each lane in order, the lanes beside one another. Gives the names of the parts that failed, in the order of the lanes. */
export async function check(
  lanes: readonly (readonly Part[])[], run: (command: readonly string[]) => Promise<Outcome>, print: (text: string) => void, nowMs: () => number,
): Promise<string[]> {
  const failed = new Set<string>()
  await Promise.all(lanes.map(async (lane) => {
    for (const { name, command } of lane) {
      const beganMs = nowMs()
      const { ok, output } = await run(command)
      if (!ok) failed.add(name)
      const text = output.trimEnd()
      print(`${name}: ${ok ? 'ok' : 'FAILED'}, ${((nowMs() - beganMs) / 1000).toFixed(1)} s\n${text === '' ? '' : `${text}\n`}`)
    }
  }))
  return lanes.flat().map(({ name }) => name).filter((name) => failed.has(name))
}

/** Colours are kept where they will be seen; what a part reads from a terminal it does not get. */
function runCommand([program, ...args]: readonly string[]): Promise<Outcome> {
  const env = process.stdout.isTTY && process.env['NO_COLOR'] === undefined ? { FORCE_COLOR: '1', ...process.env } : process.env
  const child = spawn(program!, args, { cwd: fileURLToPath(new URL('..', import.meta.url)), env, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => { chunks.push(chunk) })
  return new Promise((resolve) => {
    child.once('error', (error) => { resolve({ ok: false, output: error.message }) })
    child.once('close', (code, signal) => {
      const output = Buffer.concat(chunks).toString()
      resolve({ ok: code === 0, output: signal === null ? output : `${output}\nended by ${signal}` })
    })
  })
}

if (process.argv[1] === import.meta.filename) {
  scriptOptionsOrExit('Usage: npm run check\n\nTypes and lint, beside the unit tests, conformance kits and meta tests. It has no options.', { numbers: {} })
  const beganMs = performance.now()
  console.log(`${parts.flat().map(({ name }) => name).join(', ')}: each is printed when it has ended\n`)
  const failed = await check(parts, runCommand, console.log, () => performance.now())
  console.log(`check ${failed.length === 0 ? 'passed' : `FAILED (${failed.join(', ')})`} in ${((performance.now() - beganMs) / 1000).toFixed(1)} s`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
