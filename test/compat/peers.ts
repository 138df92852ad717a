import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the compat tests in this checkout. */
export const compatDir = dirname(fileURLToPath(import.meta.url))

/** Root of this checkout. */
export const repositoryDir = join(compatDir, '..', '..')

/** Where `.ci/install-peers.sh` put what it installed; the same rule as in that script. */
export function peersDir (): string {
  if (process.env.MILLRACE_PEERS) return process.env.MILLRACE_PEERS
  const shared = '/opt/millrace-peers'
  return existsSync(shared) ? shared : join(compatDir, '.cache')
}

/** Path of an installed file, or undefined where that part could not be installed. */
export function peerFile (...path: string[]): string | undefined {
  const file = join(peersDir(), ...path)
  return existsSync(file) ? file : undefined
}

/** A fresh folder for one run; the caller removes it. */
export function temporaryDir (purpose: string): string {
  const dir = join(tmpdir(), `millrace-${purpose}-${process.pid}-${Math.random().toString(36).slice(2, 8)}`)
  mkdirSync(dir, { recursive: true })
  return dir
}

/** Kafka's jars as a class path, or undefined where they could not be had. */
export function kafkaClassPath (): string | undefined {
  const libs = peerFile('kafka', 'libs')
  return libs && join(libs, '*')
}
