import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

import { type Line } from './lines.ts'

/** A program to start, with what it needs in its environment. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const endPatienceMs = 15_000

/** They end with us at the latest. */
const running = new Set<ChildProcess>()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })

/** A foreign program that prints lines of JSON, until it is told to leave. The environment's COMPAT_TRACE names a file that gets all lines of all of them. */
export class LineProgram {
  private readonly child: ChildProcess
  private readonly takesCommands: boolean
  private said = ''
  private told = false

  constructor({ program, args, env }: Command, takesCommands: boolean, onLine: (line: Line, atMs: number) => void) {
    this.takesCommands = takesCommands
    this.child = spawn(program, args, { stdio: [takesCommands ? 'pipe' : 'ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    this.child.stderr!.on('data', (chunk: Buffer) => { this.said = (this.said + chunk.toString()).slice(-4000) })
    this.child.stdin?.on('error', () => {}) // that it is gone is told by its exit code
    this.child.once('error', error => { this.said += error.message })
    running.add(this.child)
    this.child.once('exit', () => running.delete(this.child))
    createInterface(this.child.stdout!).on('line', text => {
      if (process.env.COMPAT_TRACE) appendFileSync(process.env.COMPAT_TRACE, `${this.child.pid} ${text}\n`)
      if (text.startsWith('{')) onLine(JSON.parse(text) as Line, Date.now())
    })
  }

  /** What it said when it ended, if it has without being told to. */
  get problem(): string | undefined {
    if (this.told || !this.isGone) return undefined
    return `${this.child.spawnargs.slice(0, 4).join(' ')} has ended (${this.child.exitCode ?? this.child.signalCode}): ${this.said.trim().split('\n').slice(-6).join('\n')}`
  }

  get errors(): string {
    return this.said
  }

  private get isGone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  /** `seek PARTITION OFFSET` or `commit`. */
  command(text: string): void {
    this.child.stdin!.write(`${text}\n`)
  }

  /** Tells it to leave, and waits until it is gone. */
  end(): Promise<void> {
    return new Promise(resolve => {
      this.told = true
      if (this.isGone) { resolve(); return }
      const forced = setTimeout(() => this.child.kill('SIGKILL'), endPatienceMs)
      this.child.once('close', () => { clearTimeout(forced); resolve() })
      if (this.takesCommands) this.child.stdin!.end('leave\n')
      else this.child.kill('SIGTERM')
    })
  }
}

const patienceMs = 90_000
const lookAgainMs = 50

/** Looks again and again until it is so; there is no event for what foreign programs do. */
export async function until(what: string, isSo: () => boolean, programs: () => readonly LineProgram[], state: () => string): Promise<void> {
  const began = Date.now()
  while (!isSo()) {
    const problem = programs().map(program => program.problem).find(text => text !== undefined)
    if (problem !== undefined) throw new Error(`${problem}\nwhile waiting: ${what}`)
    if (Date.now() - began > patienceMs) throw new Error(`not within ${patienceMs / 1000} s: ${what}; ${state()}`)
    await new Promise(resolve => setTimeout(resolve, lookAgainMs))
  }
}
