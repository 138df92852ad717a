import { execFile, spawn } from 'node:child_process'
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
}

/** Runs a program to its end. Rejects with the last lines of its stderr if it fails, or is ended for taking too long. */
export function runProgram (command: string, args: readonly string[], options: ProgramOptions = {}): Promise<Finished> {
  const { input, env, timeoutMs = 180_000 } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } })
    const out: Buffer[] = []
    let stderr = ''
    let late = false
    const timer = setTimeout(() => { late = true; child.kill('SIGKILL') }, timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => { stderr = (stderr + chunk.toString()).slice(-20_000) })
    child.stdin.on('error', () => {}) // the exit code tells why it stopped reading
    child.on('error', error => { clearTimeout(timer); reject(error) })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const stdout = Buffer.concat(out)
      if (code === 0) return resolve({ stdout, stderr })
      const why = late ? `took longer than ${timeoutMs} ms` : `exit ${code ?? signal}`
      const said = stderr.trim() || stdout.subarray(-2000).toString().trim()
      reject(new Error(`${command.split('/').at(-1)} ${why}: ${said.split('\n').slice(-6).join('\n')}`))
    })
    child.stdin.end(input)
  })
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
