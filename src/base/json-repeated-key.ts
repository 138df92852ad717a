/**
 * The first key that stands twice in one object of a valid JSON text, as the path that leads to it (`broker.num.partitions`), or undefined. The last one would
 * win in silence. Linear in the length of the text.
 */
export function repeatedJsonKey(text: string): string | undefined {
  const open: Container[] = []
  for (const [token] of text.matchAll(tokens)) {
    const inner = open.at(-1)
    switch (token) {
      case '{':
        open.push({ keys: new Set(), at: '', isKeyNext: true })
        break
      case '[':
        open.push({ keys: undefined, at: '0', isKeyNext: false })
        break
      case '}':
      case ']':
        open.pop()
        break
      case ',':
        if (inner?.keys === undefined) inner!.at = String(Number(inner!.at) + 1)
        else inner.isKeyNext = true
        break
      default: {
        if (inner?.isKeyNext !== true) break
        const key = JSON.parse(token) as string
        inner.at = key
        inner.isKeyNext = false
        if (inner.keys!.has(key)) return open.map(({ at }) => at).join('.')
        inner.keys!.add(key)
      }
    }
  }
  return undefined
}

interface Container {
  /** Undefined: an array. */
  readonly keys: Set<string> | undefined
  /** The key or index that is read. */
  at: string
  isKeyNext: boolean
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs
