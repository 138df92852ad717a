import { readFileSync } from 'node:fs'

/** Reads the facts of test/fixtures/kafka-protocol. Shares no code with src/wire: what both say was written twice. */

export interface Range { min: number; max: number }

export interface FactField {
  name: string
  type: string
  isArray: boolean
  versions: Range
  nullable: Range | undefined
  tag: number | undefined
  tagVersions: Range | undefined
  default: string | undefined
  ignorable: boolean
  fields: FactField[]
}

export interface FactMessage {
  name: string
  type: string
  key: number | undefined
  versions: Range
  flexible: Range | undefined
  fields: FactField[]
}

const folder = new URL('../../../fixtures/kafka-protocol/', import.meta.url)

function range(text: string): Range {
  const [low, high] = text.replace('+', '-Infinity').split('-')
  return { min: Number(low), max: high === undefined ? Number(low) : Number(high) }
}

/** Messages of sections 4, 5 and 7 by name; the versions that Kafka 4 has removed (section 6) are left out. */
export function readMessages(): Map<string, FactMessage> {
  const messages = new Map<string, FactMessage>()
  let open: FactField[][] = []
  for (const line of readFileSync(new URL('messages.txt', folder), 'utf8').split('\n')) {
    if (line.startsWith('M ')) {
      const message = messageLine(line)
      open = [message.fields]
      if (!/ legacy\b/.test(line)) messages.set(message.name, message)
      continue
    }
    const found = /^((?: {2})+)(\w+): (\S+) v(\S+)(.*)$/.exec(line)
    if (found === null) continue
    const level = found[1]!.length / 2
    const field = fieldLine(found[2]!, found[3]!, found[4]!, found[5]!)
    open.length = level
    open[level - 1]!.push(field)
    open.push(field.fields)
  }
  return messages
}

function messageLine(line: string): FactMessage {
  const words = line.split(' ')
  const value = (name: string): string | undefined => words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const flexible = value('flex')!
  return {
    name: words[1]!,
    type: value('type')!,
    key: value('key') === undefined ? undefined : Number(value('key')),
    versions: range(value('valid')!),
    flexible: flexible === 'none' ? undefined : range(flexible),
    fields: [],
  }
}

function fieldLine(name: string, type: string, versions: string, rest: string): FactField {
  const value = (option: string): string | undefined => new RegExp(` ${option}=(\\S+)`).exec(rest)?.[1]
  const [tag, tagVersions] = value('tag')?.split('@') ?? []
  return {
    name: name[0]!.toLowerCase() + name.slice(1),
    type: type.replace('[]', ''),
    isArray: type.startsWith('[]'),
    versions: range(versions),
    nullable: value('null') === undefined ? undefined : range(value('null')!),
    tag: tag === undefined ? undefined : Number(tag),
    tagVersions: tagVersions === undefined ? undefined : range(tagVersions),
    default: value('def'),
    ignorable: / ign\b/.test(rest),
    fields: [],
  }
}

export interface FactError { code: number; name: string; retriable: boolean }

export function readErrors(): FactError[] {
  return readFileSync(new URL('errors.txt', folder), 'utf8').split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split('\t'))
    .map(([code, name, retriable]) => ({ code: Number(code), name: name!, retriable: retriable === 'yes' }))
}

export interface FactApi { key: number; name: string; versions: Range | undefined; flexible: Range | undefined }

/** Section 3: every API of Kafka, with the versions of Kafka 4.4; undefined where 4.4 has removed it. */
export function readApis(): FactApi[] {
  return readFileSync(new URL('messages.txt', folder), 'utf8').split('\n')
    .filter(line => line.startsWith('I|'))
    .map(line => line.split('|'))
    .map(columns => ({
      key: Number(columns[1]),
      name: columns[2]!,
      versions: columns[8] === 'none' ? undefined : range(columns[8]!.replace('u', '')),
      flexible: /^\d/.test(columns[9]!) ? range(columns[9]!) : undefined,
    }))
}
