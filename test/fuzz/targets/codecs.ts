import { BytesReader } from '../../../src/base/bytes-reader.ts'
import { type Prng } from '../../../src/base/prng.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { BytesWriter, codecFor, consumerAssignment, consumerSubscription, type MessageDefinition, wireApis } from '../../../src/wire/index.ts'
import { makeMessage } from '../grammar/message-grammar.ts'
import { type Specimen } from '../grammar/specimen.ts'
import { Finding, type FuzzInput, type Target } from '../target.ts'
import { refusalShape } from './refusal-shape.ts'

const world = { topics: ['t', 'orders'], topicIds: ['mKYwH6x0QDuRL3bZ1OyCmA'] }
const definitions: readonly MessageDefinition[] = [...wireApis.flatMap(api => [api.request, api.response]), consumerSubscription, consumerAssignment] as never
const byName = new Map(definitions.map(definition => [definition.name, definition]))

const isRequest = (kind: string): boolean => kind.includes('Request')
/** The default of the broker's setting requestElementsMax. */
const elementsMax = 20_000
/** Of larger inputs the reading alone is looked at, and weighed. */
const roundTripBytesMax = 65_536

/** Every request and response of every version, read by the codecs alone. What was read is written, and read again. */
export class CodecsTarget implements Target {
  readonly name = 'codecs'
  readonly limitBytes = 4 * 1024 * 1024
  private readonly reader = new BytesReader()
  private readonly writer = new BytesWriter()

  make(prng: Prng): Specimen {
    const definition = prng.pick(definitions)
    // A client believes its broker, so that answers have as many elements as there are bytes for.
    const hugeChance = isRequest(definition.name) ? 0.002 : 0
    return makeMessage(definition, prng.between(definition.versions.min, definition.versions.max), prng, world, { hugeChance, hugeBytes: 4 << 20 })
  }

  run({ kind, bytes }: FuzzInput): string {
    const [name, version] = kind.split(' v') as [string, string]
    const codec = codecFor(byName.get(name)!, Number(version))
    this.reader.reset(bytes)
    let message: Record<string, unknown>
    try {
      message = codec.read(this.reader, isRequest(kind) ? elementsMax : Infinity)
    } catch (error) {
      if (!isMillraceError(error, 'MR_PROTOCOL_MALFORMED')) throw error
      return refusalShape(kind, error)
    }
    if (bytes.length > roundTripBytesMax) return `${kind} read, large`
    // What can be read can be written; and once it has been, it does not change any more.
    const once = this.write(codec, message)
    this.reader.reset(once)
    const again = codec.read(this.reader)
    if (this.reader.remaining > 0) throw new Finding(`${kind} leaves ${this.reader.remaining} bytes of what it wrote itself`)
    const twice = this.write(codec, again)
    if (Buffer.compare(once, twice) !== 0) throw new Finding(`${kind} reads something else from what it wrote itself`)
    return `${kind} read`
  }

  private write(codec: ReturnType<typeof codecFor>, message: Record<string, unknown>): Uint8Array {
    this.writer.reset()
    codec.write(this.writer, message)
    return this.writer.finish().slice()
  }
}
