import { isBytesError } from '../../base/bytes-error.ts'
import { type BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { MillraceError } from '../../kernel/errors/index.ts'
import { completeSource } from './complete-source.ts'
import { type DraftOfFields, type Fields, inRange, type ValueOf } from './definition.ts'
import { layOut } from './layout.ts'
import { type MessageDefinition } from './message.ts'
import * as readPrimitives from './read-primitives.ts'
import { readerSource } from './reader-source.ts'
import * as writePrimitives from './write-primitives.ts'
import { writerSource } from './writer-source.ts'

const noBytes = new Uint8Array(0)

type Read = (reader: BytesReader) => unknown
type Write = (writer: BytesWriter, message: unknown) => void
type Complete = (draft: unknown) => unknown

/**
 * Reads and writes one version of one message. Reader and writer are JavaScript made from the definition on first use.
 *
 * Why generated code: walking a definition field by field costs several times as much as the reading itself, and it makes objects by adding
 * keys, which V8 keeps as slow dictionaries or as many hidden classes. The generated functions are what one would write by hand. Their text
 * comes from the definitions in this repository alone, never from input. A process that forbids code from strings
 * (--disallow-code-generation-from-strings) cannot use this room.
 */
export class MessageCodec<F extends Fields = Fields> {
  readonly definition: MessageDefinition<F>
  readonly version: number
  private reading: Read | undefined
  private writing: Write | undefined
  /** Reads like `reading` and notes the field in `trace`. Made at the first malformed message and kept: bad clients must stay cheap. */
  private tracing: Read | undefined
  private readonly trace = { path: '' }

  constructor(definition: MessageDefinition<F>, version: number) {
    this.definition = definition
    this.version = version
  }

  /**
   * Reads a message from the reader's position and leaves the reader behind it. What follows is not looked at: some clients send spare
   * bytes after a body, and Kafka takes no notice (quirk 5). `bytes` and `records` are views into the reader's bytes.
   *
   * Throws MR_PROTOCOL_MALFORMED, naming message, field and position, for anything that is not this message; counts and lengths are
   * checked against the bytes left before anything is allocated for them. So is the number of all elements of all arrays against
   * `elementsMax`, for messages of peers that are not trusted: small elements take twenty to forty times as much memory as bytes.
   */
  read(reader: BytesReader, elementsMax = Infinity): ValueOf<F> {
    const start = reader.position
    const end = reader.end
    readPrimitives.limitElements(elementsMax)
    try {
      return (this.reading ??= compileReader(this.definition, this.version))(reader) as ValueOf<F>
    } catch (error) {
      if (!isBytesError(error)) throw error
      reader.position = start
      reader.end = end
      throw this.explain(reader, error.reason, elementsMax)
    }
  }

  /**
   * Writes a message. Fields left out take their defaults. Record batches above 4 KiB become pieces of the writer, without a copy: they must
   * not change until the pieces are sent. After an error the writer holds half a message and must be reset.
   *
   * Throws MR_PROTOCOL_FIELD_VERSION for a value that this version cannot carry and that may not be dropped, MR_PROTOCOL_UNWRITABLE for a
   * value that the field's type cannot hold.
   */
  write(writer: BytesWriter, message: DraftOfFields<F>): void {
    (this.writing ??= compileWriter(this.definition, this.version))(writer, message)
  }

  /** Reads once more, with a reader that notes where it is, and says which field it was. */
  private explain(reader: BytesReader, reason: string, elementsMax: number): MillraceError {
    const start = reader.position
    readPrimitives.limitElements(elementsMax)
    try {
      (this.tracing ??= compileReader(this.definition, this.version, this.trace))(reader)
    } catch (error) {
      if (!isBytesError(error)) throw error
      return new MillraceError('MR_PROTOCOL_MALFORMED', {
        what: `${this.definition.name} v${this.version} ${this.trace.path}`, position: error.position - start, reason: error.reason,
      }, error)
    }
    return new MillraceError('MR_PROTOCOL_MALFORMED', { what: `${this.definition.name} v${this.version}`, position: 0, reason })
  }
}

/** The codec of a version, compiled on first use and kept. Throws MR_PROTOCOL_UNSUPPORTED_VERSION where the definition has none. */
export function codecFor<F extends Fields>(definition: MessageDefinition<F>, version: number): MessageCodec<F> {
  const known = definition.compiled[version]
  if (known !== undefined) return known as MessageCodec<F>
  const { min, max } = definition.versions
  if (!Number.isInteger(version) || !inRange(definition.versions, version)) {
    throw new MillraceError('MR_PROTOCOL_UNSUPPORTED_VERSION', { api: definition.name, version, min, max })
  }
  const codec = new MessageCodec<F>(definition, version)
  definition.compiled[version] = codec
  return codec
}

const completers = new WeakMap<MessageDefinition, Complete>()

/** A draft with all defaults filled in, as a reader would give it: for handing a message over without writing it. The draft is not changed. */
export function completeMessage<F extends Fields>(definition: MessageDefinition<F>, draft: DraftOfFields<F>): ValueOf<F> {
  let complete = completers.get(definition)
  if (complete === undefined) {
    complete = evaluate<Complete>(completeSource(layOut(definition, definition.versions.max)), {})
    completers.set(definition, complete)
  }
  return complete(draft) as ValueOf<F>
}

function compileReader(definition: MessageDefinition, version: number, trace?: { path: string }): Read {
  return evaluate<Read>(readerSource(layOut(definition, version), trace !== undefined), { primitives: readPrimitives, trace })
}

function compileWriter(definition: MessageDefinition, version: number): Write {
  const source = writerSource(layOut(definition, version), definition.name, version)
  return evaluate<Write>(source, { primitives: writePrimitives, newWriter: () => new BytesWriter(64) })
}

function evaluate<T>(source: string, given: Readonly<Record<string, unknown>>): T {
  const names = ['noBytes', ...Object.keys(given)]
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the head of MessageCodec says why, and where the text comes from
  const program = new Function(...names, source) as (...values: unknown[]) => T
  return program(noBytes, ...Object.values(given))
}
