import { spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

import { freePorts } from '../../test/compat/kafka-broker.ts'
import { temporaryDir } from '../../test/compat/peers.ts'
import { EndedWithUs, outputOf, runProgram } from '../../test/compat/process.ts'

export interface RunningRedis {
  readonly pid: number
  /** Appends to a stream, one value a command, and says how many a second. */
  append (load: { readonly messages: number, readonly bytes: number, readonly connections: number, readonly inflight: number }): Promise<number>
  stop (): Promise<void>
}

export function redisAvailable (): boolean {
  return ['redis-server', 'redis-benchmark'].every(name => spawnSync(name, ['--version']).status === 0)
}

/** Redis that answers when its append-only file is synced, and never rewrites it, in a folder of its own. */
export async function startRedis (): Promise<RunningRedis> {
  const dir = temporaryDir('redis')
  const [port] = await freePorts(1)
  const server = new EndedWithUs(() => spawn('redis-server', [
    '--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always',
    '--auto-aof-rewrite-percentage', '0', '--loglevel', 'warning',
  ], { stdio: 'ignore' }))
  const cli = (...args: string[]): Promise<string> => outputOf('redis-cli', ['-p', String(port), ...args])
  const until = Date.now() + 10_000
  while (await cli('PING') !== 'PONG') {
    if (server.exitCode !== null || Date.now() > until) throw new Error('redis-server does not answer')
  }
  return {
    pid: server.pid,
    async append ({ messages, bytes, connections, inflight }) {
      const { stdout } = await runProgram('redis-benchmark', ['-p', String(port), '-c', String(connections), '-P', String(inflight),
        '-n', String(messages), '--csv', 'XADD', 'bench', '*', 'v', 'x'.repeat(bytes)], { timeoutMs: 300_000 })
      await cli('DEL', 'bench')
      const rate = Number(/^"XADD[^\n]*?","(?<rate>[\d.]+)"/m.exec(stdout.toString())?.groups!.rate)
      if (!(rate > 0)) throw new Error(`redis-benchmark printed no rate:\n${stdout.toString()}`)
      return rate
    },
    async stop () {
      await server.end()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
