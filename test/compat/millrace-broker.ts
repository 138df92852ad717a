import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { repositoryDir, temporaryDir } from './peers.ts'
import { EndedWithUs } from './process.ts'

export interface MillraceOptions {
  /** Further arguments of `millrace start`. */
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
  /** Ends the broker, cleanly unless a signal is given, and returns when its process is gone. Keeps the data. */
  end (signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** After `end()`: starts the broker again on the same data and port, without waiting for it. Returns its process id. */
  relaunch (): number
  /** Ends the broker cleanly and removes its folder, unless it was given. */
  stop (): Promise<void>
}

const main = join(repositoryDir, 'dist', 'cli', 'main.js')

/** True where this checkout has been built. */
export function millraceAvailable (): boolean {
  return existsSync(main)
}

function launch (dataDir: string, listen: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [main, 'start', '--data', dataDir, '--listen', listen, '--http', 'off', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The address that the broker says it serves, once it does. */
function readyAddress (child: ChildProcess, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`millrace is not ready after ${timeoutMs} ms`)), timeoutMs)
    let out = ''
    let said = ''
    child.stderr!.on('data', (chunk: Buffer) => { said = (said + chunk.toString()).slice(-20_000) })
    child.stdout!.on('data', (chunk: Buffer) => {
      out = (out + chunk.toString()).slice(-20_000)
      const ready = /^millrace ready kafka=(\S+)/m.exec(out)
      if (ready) { clearTimeout(timer); resolve(ready[1]!) }
    })
    child.once('error', reject)
    child.once('exit', code => {
      clearTimeout(timer)
      reject(new Error(`millrace ended (${code}): ${said.trim().split('\n').slice(-5).join('\n')}`))
    })
  })
}

/** Starts the broker of this checkout's build as a user would, and returns when it says that it is ready. */
export async function startMillrace (options: MillraceOptions = {}): Promise<RunningMillrace> {
  if (!millraceAvailable()) throw new Error('millrace is not built: run npm run build')
  const dataDir = options.dataDir ?? temporaryDir('data')
  let listen = '127.0.0.1:0'
  const began = Date.now()
  const server = new EndedWithUs(() => launch(dataDir, listen, options.args ?? []))
  try {
    listen = await readyAddress(server.child, options.readyTimeoutMs ?? 30_000)
  } catch (error) {
    await server.end('SIGKILL')
    throw error
  }
  return {
    bootstrap: listen,
    dataDir,
    pid: server.pid,
    startMs: Date.now() - began,
    end: signal => server.end(signal),
    relaunch () {
      const pid = server.launch()
      server.child.stdout!.resume()
      server.child.stderr!.resume()
      return pid
    },
    async stop () {
      await server.end()
      if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
