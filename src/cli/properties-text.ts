export interface Property {
  readonly key: string
  readonly value: string
  /** Where it begins, counted from 1. */
  readonly line: number
}

/**
 * Reads a file in the format of java.util.Properties, as Kafka's client properties are: `key=value`, `key: value` or `key value`, comments after `#`
 * or `!`, lines that go on after a backslash, and escapes.
 */
export function parseProperties(text: string): Property[] {
  const properties: Property[] = []
  const lines = text.split(/\r\n|\n|\r/)
  for (let index = 0; index < lines.length; index++) {
    let logical = lines[index]!.trimStart()
    if (logical === '' || logical.startsWith('#') || logical.startsWith('!')) continue
    const line = index + 1
    while (endsInBackslash(logical) && index + 1 < lines.length) logical = logical.slice(0, -1) + lines[++index]!.trimStart()
    if (endsInBackslash(logical)) logical = logical.slice(0, -1)
    const [key, value] = splitProperty(logical)
    properties.push({ key: unescape(key), value: unescape(value), line })
  }
  return properties
}

/** An even number of backslashes is that many halves of escaped ones. */
function endsInBackslash(line: string): boolean {
  return /\\*$/.exec(line)![0].length % 2 === 1
}

function splitProperty(line: string): [string, string] {
  let at = 0
  while (at < line.length && !/[=:\s]/.test(line[at]!)) at += line[at] === '\\' ? 2 : 1
  const rest = /^\s*[=:]?\s*/.exec(line.slice(at))![0].length
  return [line.slice(0, at), line.slice(at + rest)]
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_all, code: string | undefined, char: string) =>
    code === undefined ? escapes[char] ?? char : String.fromCharCode(parseInt(code, 16)))
}
