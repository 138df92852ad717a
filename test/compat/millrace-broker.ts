import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { repositoryDir, temporaryDir } from './peers.ts'

export interface MillraceOptions {
  /** Settings given as `--set NAME=VALUE` would be on the command line of `millrace start`. */
  args?: readonly string[]
  /** Folder to use and keep; a temporary one unless given. */
  dataDir?: string
  readyTimeoutMs?: number
}

export interface RunningMillrace {
  readonly bootstrap: string
  readonly dataDir: string
  readonly pid: number
  /** From the start of the process until it said that it is ready. */
  readonly startMs: number
  end (signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  stop (): Promise<void>
}

export const millraceMain = join(repositoryDir, 'dist', 'cli', 'main.js')

/** True where this checkout has been built. */
export function millraceAvailable (): boolean {
  return existsSync(millraceMain)
}

/** Starts the broker of this checkout's build as a user would, and returns when it says that it is ready. */
export async function startMillrace (options: MillraceOptions = {}): Promise<RunningMillrace> {
  if (!millraceAvailable()) throw new Error('millrace is not built: run npm run build')
  const dataDir = options.dataDir ?? temporaryDir('data')
  const began = Date.now()
  const child = spawn(process.execPath, [millraceMain, 'start', '--data', dataDir, '--listen', '127.0.0.1:0',
    '--http', 'off', ...options.args ?? []], { stdio: ['ignore', 'pipe', 'pipe'] })
  const endWithUs = (): void => { child.kill('SIGKILL') }
  process.once('exit', endWithUs)
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => { said = (said + chunk.toString()).slice(-20_000) })

  const end = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    const tooLate = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await gone
    clearTimeout(tooLate)
    process.off('exit', endWithUs)
  }
  const bootstrap = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('millrace is not ready in time')), options.readyTimeoutMs ?? 30_000)
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      const ready = /^millrace ready kafka=(\S+)/m.exec(out)
      if (ready) { clearTimeout(timer); resolve(ready[1]!) }
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`millrace ended (${code}): ${said.trim().split('\n').slice(-5).join('\n')}`)))
  }).catch(async (error: unknown) => { await end('SIGKILL'); throw error })

  return {
    bootstrap,
    dataDir,
    pid: child.pid!,
    startMs: Date.now() - began,
    end,
    async stop () {
      await end()
      if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
