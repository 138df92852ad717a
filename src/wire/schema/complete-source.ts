import { defaultSource } from './default-source.ts'
import { type FieldLayout, type StructLayout } from './layout.ts'
import { SourceLines } from './source-lines.ts'

/** Makes the source of `(draft) => message`, which fills in defaults, for messages that are handed over without being written. */
export function completeSource(root: StructLayout): string {
  const lines = new SourceLines()
  return lines.program(structCompleter(root, lines))
}

function structCompleter(struct: StructLayout, lines: SourceLines): string {
  const body = struct.fields.map(field =>
    `const ${field.name}_ = draft.${field.name} === undefined ? ${defaultSource(field, lines)} : ${completedSource(field, `draft.${field.name}`, lines)}`)
  body.push(`return { ${struct.fields.map(field => `${field.name}: ${field.name}_`).join(', ')} }`)
  const name = `complete${struct.id}`
  lines.addFunction(`${name}(draft)`, body)
  return name
}

function completedSource(field: FieldLayout, value: string, lines: SourceLines): string {
  const orNull = (completed: string): string => `${value} === null ? null : ${completed}`
  if (field.kind === 'struct') return orNull(`${structCompleter(field.struct!, lines)}(${value})`)
  if (field.kind !== 'array' || typeof field.element === 'string') return value
  return orNull(`${value}.map(${structCompleter(field.element!, lines)})`)
}
