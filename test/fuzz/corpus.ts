import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FuzzInput, type TargetName } from './target.ts'

/** One file a target, one line an input: small, and readable in a diff. */
export const corpusDirectory = join(dirname(fileURLToPath(import.meta.url)), 'corpus')

export interface CorpusEntry extends FuzzInput {
  /** Why it was kept: `found: …` for what once failed, else what it was the first to reach. */
  readonly why: string
}

/** Where failures go that are too large for the repository. */
export const heavyDirectory = join(tmpdir(), 'millrace-fuzz')

export function corpusPath(target: TargetName, directory = corpusDirectory): string {
  return join(directory, `${target}.jsonl`)
}

export function readCorpus(target: TargetName, path = corpusPath(target)): CorpusEntry[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').filter(line => line !== '').map(parseEntry)
}

/** Puts entries behind those that are there, none twice. Gives the number of the last line. */
export function addToCorpus(target: TargetName, entries: readonly CorpusEntry[], directory = corpusDirectory): number {
  const path = corpusPath(target, directory)
  const there = readCorpus(target, path)
  const lines = there.map(formatEntry)
  const known = new Set(there.map(({ kind, bytes }) => `${kind} ${Buffer.from(bytes).toString('base64')}`))
  for (const entry of entries) {
    const key = `${entry.kind} ${Buffer.from(entry.bytes).toString('base64')}`
    if (known.has(key)) continue
    known.add(key)
    lines.push(formatEntry(entry))
  }
  mkdirSync(directory, { recursive: true })
  writeFileSync(path, lines.map(line => `${line}\n`).join(''))
  return lines.length
}

function formatEntry({ kind, why, bytes }: CorpusEntry): string {
  return JSON.stringify({ kind, why, bytes: Buffer.from(bytes).toString('base64') })
}

function parseEntry(line: string): CorpusEntry {
  const { kind, why, bytes } = JSON.parse(line) as { readonly kind: string, readonly why: string, readonly bytes: string }
  return { kind, why, bytes: Uint8Array.from(Buffer.from(bytes, 'base64')) }
}
