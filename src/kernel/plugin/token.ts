declare const carries: unique symbol

/** A symbol that carries the type of what is bound to it. An interface of a port and its token share one name. */
export type Token<T> = symbol & { readonly [carries]: (value: T) => T }

/** The methods that an interface must have, each by its name: the compiler refuses a list that lacks one. */
export type MethodList<T> = Readonly<Record<{
  [K in keyof T]-?: undefined extends T[K] ? never : T[K] extends (...given: never[]) => unknown ? K : never
}[keyof T], true>>

const methods = new Map<symbol, readonly string[]>()

/** With `required`, an object that lacks a method of the port is refused when it is made, in the name of the plugin that provides it. */
export function token<T>(name: string, required?: MethodList<T>): Token<T> {
  const made = Symbol(name) as Token<T>
  if (required !== undefined) methods.set(made, Object.keys(required))
  return made
}

/** The methods that what is bound to a token must have, as far as the token says. */
export const methodsOf = (port: AnyToken): readonly string[] => methods.get(port) ?? []

/** Asks for every contribution bound to a token, as an array in the order of the plugins; none gives an empty array. */
export interface Every<T> {
  readonly every: Token<T>
}

/** Asks for what is bound to a token, or undefined when nobody offers it. */
export interface Maybe<T> {
  readonly maybe: Token<T>
}

/** In `requires`, and where something is bound: asks for every contribution, as an array in the order of the plugins. None gives an empty array. */
export const every = <T>(port: Token<T>): Every<T> => ({ every: port })
/** In `requires`, and where something is bound: asks for what may not be there. Undefined when nobody offers it. */
export const maybe = <T>(port: Token<T>): Maybe<T> => ({ maybe: port })

/** A token, whatever it stands for. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- variance: a list of needs of any types
export type AnyToken = Token<any>
/** What a plugin may ask for: one port, every contribution, or what may not be there. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Need = AnyToken | Every<any> | Maybe<any>

/** What a constructor is given for a list of needs. */
export type Given<D extends readonly Need[]> = {
  [K in keyof D]: D[K] extends Token<infer T> ? T
    : D[K] extends Every<infer T> ? readonly T[]
      : D[K] extends Maybe<infer T> ? T | undefined : never
}

/** The name of a port, for messages. */
export const tokenName = (port: AnyToken): string => port.description ?? 'unnamed'
