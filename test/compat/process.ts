import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

export interface Finished {
  readonly stdout: Buffer
  readonly stderr: string
}

export interface ProgramOptions {
  /** Written to the program's stdin, which is then closed. */
  input?: Buffer
  env?: Record<string, string>
  timeoutMs?: number
  /** So much of the end of stderr is kept. Default: 20,000 characters. */
  stderrMax?: number
  /** Given each line of stdout as it comes, without its end; stdout is then not kept. A view, valid during the call. */
  onLine?: (line: Buffer) => void
}

/** Cuts chunks of bytes into lines. */
function lineSplitter (onLine: (line: Buffer) => void): { take: (chunk: Buffer) => void; finish: () => void } {
  let rest = Buffer.alloc(0)
  return {
    take (chunk) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        const line = chunk.subarray(from, end)
        onLine(rest.length > 0 ? Buffer.concat([rest, line]) : line)
        if (rest.length > 0) rest = Buffer.alloc(0)
        from = end + 1
      }
      if (from < chunk.length) rest = Buffer.concat([rest, chunk.subarray(from)])
    },
    finish () {
      if (rest.length > 0) onLine(rest)
    },
  }
}

/** Runs a program to its end. Rejects with the last lines of its stderr if it fails, or is ended for taking too long. */
export function runProgram (command: string, args: readonly string[], options: ProgramOptions = {}): Promise<Finished> {
  const { input, env, timeoutMs = 180_000, stderrMax = 20_000, onLine } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    const out: Buffer[] = []
    let stderr = ''
    let late = false
    const timer = setTimeout(() => { late = true; child.kill('SIGKILL') }, timeoutMs)
    const lines = onLine && lineSplitter(onLine)
    child.stdout.on('data', lines ? lines.take : (chunk: Buffer) => { out.push(chunk) })
    child.stderr.on('data', (chunk: Buffer) => { stderr = (stderr + chunk.toString()).slice(-stderrMax) })
    child.stdin.on('error', () => {}) // the exit code tells why it stopped reading
    child.on('error', error => { clearTimeout(timer); reject(error) })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      lines?.finish()
      const stdout = Buffer.concat(out)
      if (code === 0) return resolve({ stdout, stderr })
      const why = late ? `took longer than ${timeoutMs} ms` : `exit ${code ?? signal}`
      const said = stderr.trim() || stdout.subarray(-2000).toString().trim()
      reject(new Error(`${command.split('/').at(-1)} ${why}: ${said.split('\n').slice(-6).join('\n')}`))
    })
    child.stdin.end(input)
  })
}

/** A server's process that may be launched again, and is killed with this process at the latest. */
export class EndedWithUs {
  readonly #launch: () => ChildProcess
  #child: ChildProcess
  readonly #kill = (): void => { this.#child.kill('SIGKILL') }

  constructor (launch: () => ChildProcess) {
    this.#launch = launch
    this.#child = launch()
    process.once('exit', this.#kill)
  }

  get child (): ChildProcess {
    return this.#child
  }

  get pid (): number {
    return this.#child.pid!
  }

  /** Null while it runs; -1 after a signal. */
  get exitCode (): number | null {
    return this.#child.exitCode ?? (this.#child.signalCode ? -1 : null)
  }

  launch (): number {
    if (this.exitCode === null) throw new Error('the server runs already')
    this.#child = this.#launch()
    process.once('exit', this.#kill)
    return this.pid
  }

  /** Returns when the process is gone; it is killed if a clean end takes longer than 30 s. */
  async end (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (this.exitCode === null) {
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.kill(signal)
      const tooLate = setTimeout(() => child.kill('SIGKILL'), 30_000)
      await gone
      clearTimeout(tooLate)
    }
    process.off('exit', this.#kill)
  }
}

/** Standard output of a quick command, trimmed; empty where it fails. */
export async function outputOf (command: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { timeout: 20_000, env: { ...process.env, ...env } })
    return (stdout || stderr).trim()
  } catch {
    return ''
  }
}

/** Short options for Java tools that live a second: they start faster and leave memory to others. */
export const briefJvmOptions = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'] as const
