import { parseArgs } from 'node:util'

export interface KnownOptions<N extends string> {
  /** Options that are numbers, by name: what each is when it is not given. */
  readonly numbers: Readonly<Record<N, number>>
  /** Those of them that may have a fraction. */
  readonly fractions?: readonly NoInfer<N>[]
  /** Those of them that have to be above 0. */
  readonly positive?: readonly NoInfer<N>[]
  readonly flags?: readonly string[]
  /** Options that are words, by name: what each is when it is not given. `output` may be written `-o`, and is `text` or `json`. */
  readonly texts?: Readonly<Record<string, string>>
  /** Which words some of them take. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  /** The same for those that take several, with commas between them. */
  readonly lists?: Readonly<Record<string, readonly string[]>>
}

export interface ScriptOptions<N extends string> {
  readonly numbers: Readonly<Record<N, number>>
  readonly flags: ReadonlySet<string>
  readonly texts: Readonly<Record<string, string>>
}

/** What the words after `npm run NAME --` mean: `help`, or, as a sentence, what is wrong with them. */
export function scriptOptions<N extends string>(args: readonly string[], { numbers, fractions = [], positive = [], flags = [], texts = {}, choices = {}, lists = {} }: KnownOptions<N>): ScriptOptions<N> | string {
  let values: Readonly<Record<string, string | boolean | undefined>>
  try {
    const named = (names: readonly string[], type: 'string' | 'boolean') => Object.fromEntries(names.map((name) => [name, { type }]))
    values = parseArgs({ args: [...args], options: { ...named([...Object.keys(numbers), ...Object.keys(texts)], 'string'), ...('output' in texts ? { output: { type: 'string' as const, short: 'o' } } : {}), ...named([...flags, 'help'], 'boolean') } }).values as typeof values
  } catch (error) {
    // In the words of parseArgs, without its advice about how to write positional arguments.
    return (error as Error).message.split(/\. To specify/)[0]!
  }
  if (values['help'] === true) return 'help'
  const read: Record<N, number> = { ...numbers }
  for (const name of Object.keys(numbers) as N[]) {
    const text = values[name] as string | undefined
    if (text === undefined) continue
    const isFraction = fractions.includes(name)
    if (!(isFraction ? /^\d+(\.\d+)?$/ : /^\d{1,15}$/).test(text)) return `--${name} ${text}: it takes a ${isFraction ? '' : 'whole '}number`
    read[name] = Number(text)
    if (positive.includes(name) && read[name] === 0) return `--${name} ${text}: it takes a number above 0`
  }
  for (const [words, isList] of [[{ output: ['text', 'json'], ...choices }, false], [lists, true]] as const) {
    for (const [name, allowed] of Object.entries(words)) {
      const text = values[name] as string | undefined
      const wrong = text === undefined ? undefined : (isList ? text.split(',') : [text]).find((word) => !allowed.includes(word))
      if (wrong !== undefined) return `--${name} ${wrong === '' ? '""' : wrong}: it takes ${isList ? 'some' : 'one'} of ${allowed.join(', ')}`
    }
  }
  const words = Object.fromEntries(Object.entries(texts).map(([name, byDefault]) => [name, (values[name] as string | undefined) ?? byDefault]))
  return { numbers: read, flags: new Set(flags.filter((name) => values[name] === true)), texts: words }
}

/** The same for a script: help that was asked for ends it with 0, wrong use with 2. */
export function scriptOptionsOrExit<N extends string>(usage: string, known: KnownOptions<N>): ScriptOptions<N> {
  const options = scriptOptions(process.argv.slice(2), known)
  if (typeof options !== 'string') return options
  if (options !== 'help') return refuseUse(usage, options)
  console.log(usage)
  process.exit(0)
}

/** Ends a script that is used in a wrong way: with a sentence, how it is used, and 2. */
export function refuseUse(usage: string, sentence: string): never {
  console.error(`error: ${sentence}\n\n${usage}`)
  process.exit(2)
}
