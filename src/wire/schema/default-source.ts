import { type FieldLayout, type StructLayout } from './layout.ts'
import { type SourceLines } from './source-lines.ts'

/** An expression for the default of a field. A struct of defaults is made once and frozen: it is shared by all messages that lack it. */
export function defaultSource(field: FieldLayout, lines: SourceLines): string {
  switch (field.fallback) {
    case 'emptyArray': return '[]'
    case 'emptyBytes': return 'noBytes'
    case 'structOfDefaults': return lines.addConstant(`Object.freeze(${structOfDefaults(field.struct!, lines)})`)
    default: return JSON.stringify(field.fallback.literal)
  }
}

function structOfDefaults(struct: StructLayout, lines: SourceLines): string {
  const inner = (field: FieldLayout): string =>
    field.fallback === 'emptyArray' ? 'Object.freeze([])' : defaultSource(field, lines)
  return `{ ${struct.fields.map(field => `${field.name}: ${inner(field)}`).join(', ')} }`
}

/** An expression that is true where `value` is the default of the field. `value` is never undefined. */
export function isDefaultSource(field: FieldLayout, value: string, lines: SourceLines): string {
  const empty = `${value} !== null && ${value}.length === 0`
  switch (field.fallback) {
    case 'emptyArray':
    case 'emptyBytes': return `(${empty})`
    case 'structOfDefaults': return `(${value} !== null && ${structIsDefault(field.struct!, lines)}(${value}))`
    default: return `${value} === ${JSON.stringify(field.fallback.literal)}`
  }
}

function structIsDefault(struct: StructLayout, lines: SourceLines): string {
  const name = `isDefault${struct.id}`
  const tests = struct.fields.map(field => {
    const value = `value.${field.name}`
    return `(${value} === undefined || ${isDefaultSource(field, value, lines)})`
  })
  lines.addFunction(`${name}(value)`, [`return ${tests.join(' && ')}`])
  return name
}
