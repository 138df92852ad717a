import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FuzzInput, type TargetName } from './target.ts'

/** One file a target, one line an input: small, and readable in a diff. */
export const corpusDirectory = join(dirname(fileURLToPath(import.meta.url)), 'corpus')

export interface CorpusEntry extends FuzzInput {
  /** Why it was kept: `found: …` for what once failed, else what it was the first to reach. */
  readonly why: string
}

export function corpusPath(target: TargetName): string {
  return join(corpusDirectory, `${target}.jsonl`)
}

export function readCorpus(target: TargetName): CorpusEntry[] {
  const path = corpusPath(target)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split('\n').filter(line => line !== '').map(parseEntry)
}

/** Puts entries behind those that are there, none twice. Gives the number of the last line. */
export function addToCorpus(target: TargetName, entries: readonly CorpusEntry[]): number {
  const lines = readCorpus(target).map(formatEntry)
  const known = new Set(readCorpus(target).map(({ kind, bytes }) => `${kind} ${Buffer.from(bytes).toString('base64')}`))
  for (const entry of entries) {
    const key = `${entry.kind} ${Buffer.from(entry.bytes).toString('base64')}`
    if (known.has(key)) continue
    known.add(key)
    lines.push(formatEntry(entry))
  }
  mkdirSync(corpusDirectory, { recursive: true })
  writeFileSync(corpusPath(target), lines.map(line => `${line}\n`).join(''))
  return lines.length
}

export function corpusFiles(): string[] {
  return existsSync(corpusDirectory) ? readdirSync(corpusDirectory).map(name => join(corpusDirectory, name)) : []
}

function formatEntry({ kind, why, bytes }: CorpusEntry): string {
  return JSON.stringify({ kind, why, bytes: Buffer.from(bytes).toString('base64') })
}

function parseEntry(line: string): CorpusEntry {
  const { kind, why, bytes } = JSON.parse(line) as { readonly kind: string, readonly why: string, readonly bytes: string }
  return { kind, why, bytes: Uint8Array.from(Buffer.from(bytes, 'base64')) }
}
