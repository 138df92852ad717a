/**
 * About how many instructions a pattern in RE2's syntax comes to when it is compiled, rather too many than too few: repetitions are written out, and those in one another multiply.
 * What is no pattern has some size too: the compiler refuses it.
 */
export function patternSize(pattern: string): number {
  const outer: number[] = []
  let size = 0
  let atom = 0
  for (let at = 0; at < pattern.length;) {
    const rest = pattern.slice(at, at + 24)
    const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(rest)
    if (repeat !== null) {
      const times = Math.max(1, Number(repeat[1]), Number(repeat[2] ?? 0)) + (repeat[2] === '' ? 1 : 0)
      size += atom * (times - 1)
      atom *= times
      at += repeat[0].length
    } else if (rest.startsWith('(')) {
      outer.push(size)
      size = 2
      at++
    } else if (rest.startsWith(')') && outer.length > 0) {
      atom = size
      size += outer.pop()!
      at++
    } else {
      at = rest.startsWith('[') ? classEnd(pattern, at) : at + (rest.startsWith('\\') ? 2 : 1)
      atom = 2
      size += 2
    }
  }
  return size + outer.reduce((sum, each) => sum + each, 0)
}

/** Behind the bracket that closes a class. */
function classEnd(pattern: string, from: number): number {
  let at = from + (pattern[from + 1] === '^' ? 2 : 1)
  // A bracket in the first place is one of the class.
  if (pattern[at] === ']') at++
  while (at < pattern.length && pattern[at] !== ']') {
    const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at) : -1
    at = named >= 0 ? named + 2 : at + (pattern[at] === '\\' ? 2 : 1)
  }
  return at + 1
}
