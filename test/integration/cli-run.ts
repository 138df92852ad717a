import { spawn } from 'node:child_process'
import { mainJs } from './built.ts'

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly bootstrap?: string
  readonly input?: string | Uint8Array
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Lines of progress come with work of five seconds and more, and so with a busy machine: what is printed besides is the same on all. */
export const withoutProgress = (stderr: string): string => stderr.replace(/^(produce|consume) \S+: [\d,]+ records {2}.*\n/gm, '')

/** Runs the command as users do, to its end. Its terminal is none: pipes on all sides. Standard error is without lines of progress. */
export function cli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { MILLRACE_BOOTSTRAP: _, ...environment } = process.env
  const child = spawn(process.execPath, [mainJs, ...args], {
    cwd: options.cwd, stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...environment, ...options.bootstrap === undefined ? {} : { MILLRACE_BOOTSTRAP: options.bootstrap }, ...options.env },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text })
  // Who does not read its input is no reason to fail.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input ?? '')
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => { resolve({ code, stdout, stderr: withoutProgress(stderr) }) })
  })
}

/** A failure as users see it: one line on standard error, nothing on standard output. */
export function oneLine({ stdout, stderr }: CliResult): string {
  const lines = stderr.split('\n').filter((line) => line !== '')
  return stdout === '' && lines.length === 1 ? lines[0]! : `NOT ONE LINE: ${JSON.stringify({ stdout, stderr })}`
}

export const jsonOf = ({ stdout }: CliResult): unknown => JSON.parse(stdout)

export const jsonLines = ({ stdout }: CliResult): unknown[] => stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as unknown)
