import { type ScalarKind } from './definition.ts'
import { defaultSource, isDefaultSource } from './default-source.ts'
import { type FieldLayout, scalarBytesFixed, type StructLayout } from './layout.ts'
import { SourceLines } from './source-lines.ts'

/**
 * Makes the source of a writer: `(writer, message) => void`, one function a struct. A field that the message leaves out is written as its
 * default. A value that the version cannot carry is dropped if the definition calls it ignorable, else refused.
 */
export function writerSource(root: StructLayout, messageName: string, version: number): string {
  const lines = new SourceLines()
  return lines.program(new WriterSource(lines, messageName, version).struct(root))
}

class WriterSource {
  private readonly lines: SourceLines
  private readonly messageName: string
  private readonly version: number

  constructor(lines: SourceLines, messageName: string, version: number) {
    this.lines = lines
    this.messageName = messageName
    this.version = version
  }

  /** Adds the function that writes this struct and gives its name. */
  struct(struct: StructLayout): string {
    const body: string[] = []
    for (const field of struct.absent) {
      if (field.ignorable) continue
      const value = `message.${field.name}`
      body.push(
        `if (${value} !== undefined && !(${isDefaultSource(field, value, this.lines)})) primitives.refuseInVersion(${this.at(field)}, ${this.version})`,
      )
    }
    for (const field of struct.inline) body.push(...this.inlineField(field, struct.flexible))
    if (struct.flexible) body.push(...this.tags(struct))
    const name = `write${struct.id}`
    this.lines.addFunction(`${name}(writer, message)`, body)
    return name
  }

  /** What errors call the field. */
  private at(field: FieldLayout): string {
    return `'${this.messageName}.${field.path}'`
  }

  private inlineField(field: FieldLayout, flexible: boolean): string[] {
    return [
      '{',
      `  let value = message.${field.name}`,
      `  if (value === undefined) value = ${defaultSource(field, this.lines)}`,
      ...this.value(field, flexible).map(line => `  ${line}`),
      '}',
    ]
  }

  /** Writes the local `value`. */
  private value(field: FieldLayout, flexible: boolean): string[] {
    if (field.kind === 'struct') return this.structValue(field)
    if (field.kind === 'array') return this.arrayValue(field, flexible)
    const write = scalarSource(field.kind, flexible, 'value', this.at(field))
    if (!field.nullable) return [write]
    return [`if (value === null) ${nullSource(field.kind, flexible)}`, `else { ${write} }`]
  }

  private structValue(field: FieldLayout): string[] {
    const write = `${this.struct(field.struct!)}(writer, value)`
    const refuseNull = `if (value === null || typeof value !== 'object') primitives.refuseValue(${this.at(field)}, value, 'an object')`
    if (!field.nullable) return [refuseNull, write]
    return ['if (value === null) writer.int8(-1)', 'else {', `  ${refuseNull}`, '  writer.int8(1)', `  ${write}`, '}']
  }

  private arrayValue(field: FieldLayout, flexible: boolean): string[] {
    const element = field.element!
    const writeItem = typeof element === 'string'
      ? scalarSource(element, flexible, 'value[index]', this.at(field))
      : `${this.struct(element)}(writer, value[index])`
    const write = [
      `primitives.isArray(value, ${this.at(field)})`,
      flexible ? 'writer.uvarint(value.length + 1)' : 'writer.int32(value.length)',
      `for (let index = 0; index < value.length; index++) { ${writeItem} }`,
    ]
    if (!field.nullable) return write
    return [`if (value === null) ${nullSource('array', flexible)}`, 'else {', ...write.map(line => `  ${line}`), '}']
  }

  private tags(struct: StructLayout): string[] {
    if (struct.tagged.length === 0) return ['writer.uvarint(0)']
    const body = ['let count = 0']
    for (const field of struct.tagged) {
      body.push(
        `let ${field.name}_ = message.${field.name}`,
        `if (${field.name}_ !== undefined && (${isDefaultSource(field, `${field.name}_`, this.lines)})) ${field.name}_ = undefined`,
        `if (${field.name}_ !== undefined) count++`,
      )
    }
    body.push('writer.uvarint(count)')
    for (const field of struct.tagged) {
      body.push(
        `if (${field.name}_ !== undefined) {`,
        `  const value = ${field.name}_`,
        `  writer.uvarint(${field.tag})`,
        ...this.taggedValue(field).map(line => `  ${line}`),
        '}',
      )
    }
    return body
  }

  /** The size goes before the value; where it is not known beforehand the value is written aside first. Such fields are rare and small. */
  private taggedValue(field: FieldLayout): string[] {
    const size = field.kind !== 'struct' ? scalarBytesFixed(field.kind) : field.nullable ? undefined : field.struct!.bytesFixed
    if (size !== undefined) return [`writer.uvarint(${size})`, ...this.value(field, true)]
    return [
      'const outer = writer',
      '{',
      '  const writer = newWriter()',
      ...this.value(field, true).map(line => `  ${line}`),
      '  const written = writer.finish()',
      '  outer.uvarint(written.length)',
      '  outer.raw(written)',
      '}',
    ]
  }
}

function nullSource(kind: FieldLayout['kind'], flexible: boolean): string {
  return flexible ? 'writer.uvarint(0)' : kind === 'string' ? 'writer.int16(-1)' : 'writer.int32(-1)'
}

/** Integers that the type cannot hold are refused: written, they would come out as other numbers. */
const integers: Partial<Record<ScalarKind, readonly [refusedIf: (value: string) => string, name: string]>> = {
  int8: [value => `${value} << 24 >> 24 !== ${value}`, 'an 8-bit integer'],
  int16: [value => `${value} << 16 >> 16 !== ${value}`, 'a 16-bit integer'],
  uint16: [value => `(${value} & 0xffff) !== ${value}`, 'an unsigned 16-bit integer'],
  int32: [value => `(${value} | 0) !== ${value}`, 'a 32-bit integer'],
  int64: [value => `!Number.isSafeInteger(${value})`, 'an integer within 2^53 - 1'],
}

function scalarSource(kind: ScalarKind, flexible: boolean, value: string, at: string): string {
  const form = flexible ? 'compact' : 'short'
  const integer = integers[kind]
  if (integer !== undefined) return `if (${integer[0](value)}) primitives.refuseValue(${at}, ${value}, '${integer[1]}'); writer.${kind}(${value})`
  switch (kind) {
    case 'bool': return `if (typeof ${value} !== 'boolean') primitives.refuseValue(${at}, ${value}, 'a boolean'); writer.int8(${value} ? 1 : 0)`
    case 'float64': return `if (typeof ${value} !== 'number') primitives.refuseValue(${at}, ${value}, 'a number'); writer.float64(${value})`
    case 'string': return `primitives.${form}Text(writer, ${value}, ${at})`
    case 'bytes': return `primitives.${form}Bytes(writer, ${value}, ${at})`
    case 'records': return `primitives.${form}Records(writer, ${value}, ${at})`
    default: return `primitives.uuid(writer, ${value}, ${at})`
  }
}
