import { UsageError } from './output.ts'

/** For options that may be repeated. */
export const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value]

export type Pair = readonly [key: string, value: string]

/** For `key=value` options that may be repeated. */
export const collectPairs = (flag: string) => (text: string, earlier: readonly Pair[] = []): readonly Pair[] => [...earlier, keyValue(text, flag)]

/** The same for settings, of which each has one value: a second one would win in silence. */
export const collectSettings = (flag: string) => (text: string, earlier: readonly Pair[] = []): readonly Pair[] => {
  const [key, value] = keyValue(text, flag)
  const first = earlier.find((pair) => pair[0] === key)
  if (first !== undefined) throw new UsageError(`${flag} ${text}: ${key} is given twice, as ${first[1]} before; keep one of them`)
  return [...earlier, [key, value]]
}

function keyValue(pair: string, flag: string): Pair {
  const at = pair.indexOf('=')
  if (at <= 0) throw new UsageError(`${flag} ${pair}: write it as key=value`)
  return [pair.slice(0, at), pair.slice(at + 1)]
}

export const wholeNumber = (flag: string, min = 0, max = 2_147_483_647) => (text: string): number => {
  const value = Number(text)
  if (!/^-?\d{1,15}$/.test(text) || value < min || value > max) throw new UsageError(`${flag} ${text}: it takes a whole number from ${min} to ${max}`)
  return value
}

/** `HOST:PORT`, or a word that stands for none; an IPv6 address in brackets. */
export const endpoint = (flag: string, none?: string) => (text: string): string => {
  if (text === none) return text
  const port = Number(/^(?:\[[0-9a-fA-F:.]+\]|[^\s:[\]/]+):(\d+)$/.exec(text)?.[1] ?? NaN)
  if (port <= 65_535) return text
  if (port > 65_535) throw new UsageError(`${flag} ${text}: port ${port} is out of range, ports go from 0 to 65535`)
  throw new UsageError(`${flag} ${text}: write it as HOST:PORT${none === undefined ? '' : `, or ${none}`}`)
}
