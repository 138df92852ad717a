import { type ChildProcess, spawn } from 'node:child_process'
import { mainJs } from './built.ts'

export interface BrokerProcess {
  readonly child: ChildProcess
  readonly bootstrap: string
  readonly http: string
  readonly readyMs: number
  /** All of standard error so far. */
  log(): string
  /** Sends a signal and resolves with the exit code, or null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** `millrace start` as users run it. Rejects with its error line when it ends before it is ready. */
export function startBroker(args: readonly string[], options: { readonly cwd?: string, readonly command?: readonly string[], readonly env?: Readonly<Record<string, string>> } = {}): Promise<BrokerProcess> {
  const [command, ...before] = options.command ?? [process.execPath]
  const child = spawn(command!, [...before, mainJs, 'start', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', ...args], { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  let out = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { log += text })
  const exited = new Promise<number | null>((resolve) => { child.once('exit', (code) => { resolve(code) }) })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    void exited.then((code) => { reject(new Error(`the broker ended with ${code} before it was ready:\n${log}`)) })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      const ready = /^millrace ready kafka=(\S+) http=(\S+) node=\d+ in (\d+) ms$/m.exec(out)
      if (ready === null) return
      resolve({
        child, bootstrap: ready[1]!, http: ready[2]!, readyMs: Number(ready[3]), log: () => log,
        end: (signal) => { child.kill(signal); return exited },
      })
    })
  })
}
