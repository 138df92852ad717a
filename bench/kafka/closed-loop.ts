import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { peersDir } from '../../test/compat/peers.ts'
import { runProgram } from '../../test/compat/process.ts'

export interface ClosedLoopOptions {
  /** Bytes of each value. */
  readonly bytes?: number
  readonly acks?: number
  readonly connections?: number
  readonly inflight?: number
  /** Requests go to the first so many partitions of the topic in turn; to partition 0 alone unless given. */
  readonly partitions?: number
  /** Requests a second over one connection; as fast as answers come unless given. */
  readonly rate?: number
  /** Seconds at full speed before anything is counted. */
  readonly warmup?: number
  readonly seconds?: number
}

export interface ClosedLoopResult {
  readonly requests: number
  readonly warmupRequests: number
  readonly seconds: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  readonly p999Us: number
}

export function closedLoopAvailable (): boolean {
  return spawnSync('gcc', ['--version']).status === 0
}

/** Compiles a C program of this folder once, and again when its source has changed. Returns the binary. */
export function compiled (name: string, flags: readonly string[] = []): string {
  const source = join(dirname(fileURLToPath(import.meta.url)), `${name}.c`)
  const dir = join(peersDir(), name)
  const binary = join(dir, name)
  if (!existsSync(binary) || statSync(binary).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(dir, { recursive: true })
    execFileSync('gcc', ['-O2', '-o', binary, source, ...flags])
  }
  return binary
}

const program = (): string => compiled('closed-loop')

function address (bootstrap: string): [host: string, port: string] {
  const at = bootstrap.lastIndexOf(':')
  return [bootstrap.slice(0, at), bootstrap.slice(at + 1)]
}

/** One record a request, to a topic that exists. */
export async function closedLoop (bootstrap: string, topic: string, options: ClosedLoopOptions = {}): Promise<ClosedLoopResult> {
  const settings = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  const { stdout } = await runProgram(program(), [...address(bootstrap), topic, ...settings], { timeoutMs: 300_000 })
  return JSON.parse(stdout.toString()) as ClosedLoopResult
}

/** Resolves at the first acknowledgement of a record by a broker that may not even listen yet. */
export async function firstAck (bootstrap: string, topic: string, secondsMax = 60): Promise<void> {
  await runProgram(program(), [...address(bootstrap), topic, `first-ack=${secondsMax}`])
}

/** `npx tsx bench/kafka/closed-loop.ts HOST:PORT TOPIC [name=value]…`, with the options of closed-loop.c. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [bootstrap, topic, ...settings] = process.argv.slice(2)
  if (!bootstrap || !topic) throw new Error('usage: closed-loop.ts HOST:PORT TOPIC [name=value]…')
  const { stdout } = await runProgram(program(), [...address(bootstrap), topic, ...settings])
  process.stdout.write(stdout)
}
