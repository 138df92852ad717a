import { settingError } from '../../client-options.ts'
import { SerdeFault } from '../serde.ts'
import { type AvroType, type AvroTypeParts } from './avsc-package.ts'

/** Items without bytes (nulls, empty records) that a value may have beyond one for each of its bytes. */
const emptyItemsMax = 65_536

/** Goes over a value's bytes without making anything of them. */
class Cursor {
  readonly bytes: Uint8Array
  at = 0
  itemsLeft: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.itemsLeft = bytes.length + emptyItemsMax
  }

  /** A zigzag number of up to 64 bits; beyond 2^53 it is near enough. */
  long(): number {
    let value = 0
    let factor = 1
    for (let count = 0; count < 10; count++) {
      if (this.at >= this.bytes.length) throw new SerdeFault('its Avro ends early')
      const byte = this.bytes[this.at++]!
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
      factor *= 128
    }
    throw new SerdeFault('its Avro has a number of more than 64 bits')
  }

  skip(count: number): void {
    if (!(count >= 0)) throw new SerdeFault('its Avro has a negative length')
    if (count > this.bytes.length - this.at) throw new SerdeFault('its Avro ends early')
    this.at += count
  }

  takeItems(count: number): void {
    this.itemsLeft -= count
    if (this.itemsLeft < 0) throw new SerdeFault('its Avro says that it has more items than it has bytes')
  }
}

type Skip = (cursor: Cursor) => void

/**
 * A look over bytes of a type before they are decoded, that throws a SerdeFault for those that end early or promise more items than they hold: avsc makes an item for each
 * that is promised, whether its bytes are there or not. Undefined for a type without arrays and maps, which cannot promise any.
 */
export function avroSkim(type: AvroType): ((bytes: Uint8Array) => void) | undefined {
  const skips = new Map<AvroType, Skip>()
  let hasBlocks = false
  const skipOf = (of: AvroType): Skip => {
    const known = skips.get(of)
    if (known !== undefined) return known
    // A type may have itself inside: what stands here meanwhile goes by the finished one.
    skips.set(of, cursor => { skips.get(of)!(cursor) })
    const made = make(of)
    skips.set(of, made)
    return made
  }
  const make = (of: AvroTypeParts): Skip => {
    const kind = of.typeName
    if (kind.startsWith('logical:')) return skipOf(of.underlyingType!)
    if (kind.startsWith('union')) return skipUnion(of.types!.map(skipOf))
    switch (kind) {
      case 'null': return () => undefined
      case 'boolean': return cursor => { cursor.skip(1) }
      case 'int': case 'long': case 'abstract:long': case 'enum': return cursor => { cursor.long() }
      case 'float': return cursor => { cursor.skip(4) }
      case 'double': return cursor => { cursor.skip(8) }
      case 'bytes': case 'string': return skipBytes
      case 'fixed': return cursor => { cursor.skip(of.size!) }
      case 'record': case 'error': return skipAll(of.fields!.map(field => skipOf(field.type)))
      case 'array': case 'map': break
      default: throw settingError('avro', `a type of the kind ${kind} is not known here`)
    }
    hasBlocks = true
    const item = skipOf((kind === 'map' ? of.valuesType : of.itemsType)!)
    return skipBlocks(kind === 'map' ? skipAll([skipBytes, item]) : item)
  }
  const skip = skipOf(type)
  return hasBlocks ? bytes => { skip(new Cursor(bytes)) } : undefined
}

const skipBytes: Skip = cursor => { cursor.skip(cursor.long()) }

function skipAll(skips: readonly Skip[]): Skip {
  return cursor => { for (const skip of skips) skip(cursor) }
}

function skipUnion(branches: readonly Skip[]): Skip {
  return cursor => {
    const branch = branches[cursor.long()]
    if (branch === undefined) throw new SerdeFault('its Avro has a branch of a union that there is not')
    branch(cursor)
  }
}

/** Blocks of items until one of none. A negative count has the block's bytes behind it. */
function skipBlocks(item: Skip): Skip {
  return cursor => {
    for (;;) {
      let count = cursor.long()
      if (count === 0) return
      if (count < 0) {
        count = -count
        if (cursor.long() < 0) throw new SerdeFault('its Avro has a negative length')
      }
      cursor.takeItems(count)
      for (let index = 0; index < count; index++) item(cursor)
    }
  }
}
