import { type ScalarKind } from './definition.ts'
import { defaultSource } from './default-source.ts'
import { type FieldLayout, scalarBytesMin, type StructLayout } from './layout.ts'
import { SourceLines } from './source-lines.ts'

/**
 * Makes the source of a reader: `(reader) => message`, one function a struct. Each ends in one object literal with every field of the
 * definition in its order, so all messages of a definition have one hidden class, in every version.
 *
 * With `traced`, the reader also notes in `trace.path` which field it is about to read. It is compiled only after the plain one has failed,
 * to say which field it was: naming fields costs the good messages nothing.
 */
export function readerSource(root: StructLayout, traced: boolean): string {
  const lines = new SourceLines()
  return lines.program(structReader(root, lines, traced))
}

function structReader(struct: StructLayout, lines: SourceLines, traced: boolean): string {
  const body: string[] = []
  for (const field of struct.absent) body.push(`const ${local(field)} = ${defaultSource(field, lines)}`)
  for (const field of struct.inline) {
    if (traced) body.push(`trace.path = '${field.path}'`)
    body.push(`let ${local(field)}`, ...readField(field, struct.flexible, lines, traced))
  }
  if (struct.flexible) body.push(...readTags(struct, lines, traced))
  body.push(`return { ${struct.fields.map(field => `${field.name}: ${local(field)}`).join(', ')} }`)
  const name = `read${struct.id}`
  lines.addFunction(`${name}(reader)`, body)
  return name
}

/** Locals have a suffix, since a field may be called like a keyword or like something that the source uses. */
const local = (field: FieldLayout): string => `${field.name}_`

function readField(field: FieldLayout, flexible: boolean, lines: SourceLines, traced: boolean): string[] {
  if (field.kind === 'struct') {
    const read = `${structReader(field.struct!, lines, traced)}(reader)`
    return [`${local(field)} = ${field.nullable ? `primitives.present(reader) ? ${read} : null` : read}`]
  }
  if (field.kind !== 'array') return [`${local(field)} = ${readScalar(field.kind, flexible, field.nullable, field.saturating)}`]
  const element = field.element!
  const bytesMin = typeof element === 'string' ? scalarBytesMin(element, flexible) : element.bytesMin
  const item = typeof element === 'string' ? readScalar(element, flexible, false, false) : `${structReader(element, lines, traced)}(reader)`
  const count = `${flexible ? 'compact' : 'short'}Count${field.nullable ? 'OrNull' : ''}`
  const read = [
    `${local(field)} = new Array(count)`,
    `for (let index = 0; index < count; index++) ${local(field)}[index] = ${item}`,
  ]
  return [
    '{',
    `  const count = primitives.${count}(reader, ${bytesMin})`,
    ...(field.nullable
      ? [`  if (count < 0) ${local(field)} = null`, '  else {', ...read.map(line => `    ${line}`), '  }']
      : read.map(line => `  ${line}`)),
    '}',
  ]
}

function readScalar(kind: ScalarKind, flexible: boolean, nullable: boolean, saturating: boolean): string {
  const form = flexible ? 'compact' : 'short'
  const orNull = nullable ? 'OrNull' : ''
  switch (kind) {
    case 'bool': return 'primitives.bool(reader)'
    case 'string': return `primitives.${form}Text${orNull}(reader)`
    case 'bytes':
    case 'records': return `primitives.${form}Bytes${orNull}(reader)`
    case 'int64': return saturating ? 'primitives.saturatingInt64(reader)' : 'reader.int64()'
    default: return `reader.${kind}()`
  }
}

function readTags(struct: StructLayout, lines: SourceLines, traced: boolean): string[] {
  const body = traced ? ["trace.path += ' (tags)'"] : []
  if (struct.tagged.length === 0) return [...body, 'primitives.skipTags(reader)']
  // Defaults that are objects are made only where the field is missing.
  for (const field of struct.tagged) body.push(`let ${local(field)}`)
  body.push(
    'for (let count = reader.uvarint(); count > 0; count--) {',
    '  const tag = reader.uvarint()',
    '  const tagEnd = primitives.tagEnd(reader)',
    '  const end = reader.end',
    '  reader.end = tagEnd',
    '  switch (tag) {',
  )
  for (const field of struct.tagged) {
    body.push(`    case ${field.tag}: {`)
    if (traced) body.push(`      trace.path = '${field.path}'`)
    body.push(...readField(field, true, lines, traced).map(line => `      ${line}`), '      break', '    }')
  }
  body.push('  }', '  reader.end = end', '  reader.position = tagEnd', '}')
  for (const field of struct.tagged) body.push(`if (${local(field)} === undefined) ${local(field)} = ${defaultSource(field, lines)}`)
  return body
}
