import { type Prng } from '../../../src/base/prng.ts'
import { versionRanges as groupRanges } from '../../../src/plugins/coordinator-group/core/version-ranges.ts'
import { versionRanges } from '../../../src/plugins/protocol-kafka/core/version-ranges.ts'
import { isFlexibleVersion, wireApis } from '../../../src/wire/index.ts'
import { type Api } from '../../../src/wire/schema/message.ts'
import { makeMessage, type Sizes, type World } from './message-grammar.ts'
import { type Specimen, SpecimenWriter } from './specimen.ts'

const apis = wireApis as readonly Api[]
const byKey = new Map(apis.map(api => [api.key, api]))

const served = [...versionRanges, ...groupRanges]

export function apiOf(key: number): Api | undefined {
  return byKey.get(key)
}

/** A whole request as a client sends it: size, header, body. Mostly of an API and version that is served. */
export function makeRequest(prng: Prng, world: World, sizes: Sizes): Specimen {
  const range = prng.chance(0.93) ? prng.pick(served) : undefined
  const api = range === undefined ? prng.pick(apis) : byKey.get(range.key)!
  const version = range === undefined ? prng.between(api.versions.min, api.versions.max) : prng.between(range.min, range.max)
  const body = makeMessage(api.request, version, prng, world, sizes)
  const writer = new SpecimenWriter()
  const client = prng.pick(['', 'fuzz', 'ü', 'x'.repeat(300)])
  const name = new TextEncoder().encode(client)
  const flexible = isFlexibleVersion(api.key, version)
  writer.int(4, 2 + 2 + 4 + 2 + name.length + (flexible ? 1 : 0) + body.bytes.length, true)
  writer.int(2, api.key)
  writer.int(2, version)
  writer.int(4, prng.between(1, 1_000_000))
  writer.int(2, name.length, true)
  writer.raw(name)
  writer.mark('text', writer.length - name.length, name.length)
  if (flexible) {
    writer.uvarint(0, true)
    writer.mark('tags', writer.length - 1, 1)
  }
  writer.nest(body)
  return writer.finish(body.kind)
}

/** The size of a frame fits its bytes again. */
export function resized(specimen: Specimen): Specimen {
  if (specimen.bytes.length < 4) return specimen
  const bytes = specimen.bytes.slice()
  new DataView(bytes.buffer).setInt32(0, bytes.length - 4)
  return { ...specimen, bytes }
}

export interface AskedFrame {
  readonly key: number
  readonly version: number
  readonly correlationId: number
}

/** The headers of the frames in a stream, as far as they are whole. */
export function framesIn(bytes: Uint8Array): AskedFrame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const frames: AskedFrame[] = []
  for (let at = 0; at + 12 <= bytes.length;) {
    const size = view.getInt32(at)
    if (size < 8 || size > bytes.length - at - 4) break
    frames.push({ key: view.getInt16(at + 4), version: view.getInt16(at + 6), correlationId: view.getInt32(at + 8) })
    at += 4 + size
  }
  return frames
}
