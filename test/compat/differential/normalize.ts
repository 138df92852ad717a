import {
  attributesOf, baseOffsetOf, batchBytesOf, batchPrefixBytes, crcOf, lastOffsetDeltaOf, leaderEpochOf, magicOf, recordsCountOf,
} from '../../../src/kernel/record/batch-header.ts'
import { zeroUuid } from '../../../src/base/uuid.ts'

export type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain }

/** Texts are each broker's own. */
const texts = new Set(['errorMessage', 'batchIndexErrorMessage', 'documentation'])

/** What members of groups give each other: no broker changes it. */
const memberBytes = new Set(['metadata', 'assignment', 'memberMetadata', 'memberAssignment'])

/** Ids that a broker makes up for members: a UUID behind what the member calls itself, or one in base 64. */
const madeMemberId = /-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[\w-]{22}$/

/** Hides what may differ between two brokers that behave alike. Ids of producers and members get names in the order in which they appear. */
export class Normalizer {
  readonly #names = new Map<string, string>()

  #named (kind: string, id: string): string {
    const key = `${kind}${id}`
    const known = this.#names.get(key)
    if (known) return known
    const name = `<${kind} ${[...this.#names.keys()].filter(k => k.startsWith(kind)).length + 1}>`
    this.#names.set(key, name)
    return name
  }

  #field (name: string, value: unknown): Plain | undefined {
    switch (name) {
      case 'port': return '<port>'
      case 'clusterId': return value === null ? null : '<cluster>'
      case 'memberId': case 'leader': return madeMemberId.test(String(value)) ? this.#named('member', String(value)) : undefined
      case 'topicId': return value === zeroUuid ? '<no id>' : '<id>'
      case 'producerId': return Number(value) < 0 ? Number(value) : this.#named('producer id', String(value))
      case 'logAppendTimeMs': return Number(value) < 0 ? Number(value) : '<now>'
      default: return memberBytes.has(name) && value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : undefined
    }
  }

  plain (value: unknown): Plain {
    if (value === undefined || value === null) return null
    if (value instanceof Uint8Array) return batches(value)
    if (Array.isArray(value)) return value.map(item => this.plain(item))
    if (typeof value !== 'object') return typeof value === 'bigint' ? String(value) : value as Plain
    const plain: { [name: string]: Plain } = {}
    for (const [name, field] of Object.entries(value)) {
      if (texts.has(name)) continue
      plain[name] = this.#field(name, field) ?? this.plain(field)
    }
    return plain
  }
}

/** Record batches by what their headers say; equal checksums mean equal records. */
function batches (bytes: Uint8Array): Plain {
  const found: Plain[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes.length - at < batchPrefixBytes || bytes.length - at < batchBytesOf(bytes, at)) {
      found.push('a batch that is cut off')
      break
    }
    found.push(`offset ${baseOffsetOf(bytes, at)} +${lastOffsetDeltaOf(bytes, at)}, ${recordsCountOf(bytes, at)} records, ` +
      `epoch ${leaderEpochOf(bytes, at)}, magic ${magicOf(bytes, at)}, attributes ${attributesOf(bytes, at)}, crc ${crcOf(bytes, at)}`)
    at += batchBytesOf(bytes, at)
  }
  return found
}

export interface Difference {
  readonly path: string
  readonly ours: string
  readonly theirs: string
}

/** Where two observations differ, each path once, in order. */
export function differences (ours: Plain | undefined, theirs: Plain | undefined, path = ''): Difference[] {
  if (ours === theirs) return []
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    const found = ours.length === theirs.length ? [] : [{ path: `${path}.length`, ours: String(ours.length), theirs: String(theirs.length) }]
    return found.concat(...Array.from({ length: Math.min(ours.length, theirs.length) },
      (_, i) => differences(ours[i], theirs[i], `${path}[${i}]`)))
  }
  if (isObject(ours) && isObject(theirs)) {
    return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
      .flatMap(name => differences(ours[name], theirs[name], path === '' ? name : `${path}.${name}`))
  }
  return [{ path, ours: shown(ours), theirs: shown(theirs) }]
}

function isObject (value: Plain | undefined): value is { [name: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown (value: Plain | undefined): string {
  return value === undefined ? 'absent' : JSON.stringify(value).slice(0, 200)
}
