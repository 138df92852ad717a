import { crc32c } from '../../../base/crc32c.ts'

const encoder = new TextEncoder()
const bits = 32

/**
 * The text of a checkpoint with a checksum of it that nobody sees: 32 blanks behind the last entry, a space for 0 and a tab for 1. Kafka splits entries
 * at white space, and drops what is at the end. `of` says which file of whom the text is, so that no other file's is taken for it. A text
 * without entries has no room for it, and nothing to lose.
 */
export function withChecksum(text: string, of: string): string {
  if (entriesOf(text) < 1) return text
  const crc = crc32c(encoder.encode(`${of}\n${text}`))
  const blanks = Array.from({ length: bits }, (_, bit) => (crc >>> (bits - 1 - bit)) & 1 ? '\t' : ' ')
  return `${text.slice(0, -1)}${blanks.join('')}\n`
}

/** The text without its checksum; undefined when that is wrong. What others have written ends no line with a blank, and is taken as it is. */
export function checkedText(text: string, of: string): string | undefined {
  if (!/[ \t](\n|$)/.test(text)) return text
  const match = /[ \t]+\n$/.exec(text)
  if (match === null) return undefined
  const plain = `${text.slice(0, match.index)}\n`
  return withChecksum(plain, of) === text ? plain : undefined
}

function entriesOf(text: string): number {
  return text.endsWith('\n') ? text.split('\n').length - 3 : 0
}
