import { type AnyToken, type Given, type Need, type Token } from './token.ts'

type Offered<X> = X extends Token<infer T> ? T : never
type Both<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never

/** What an object must be to be offered under all of the tokens. */
export type Fulfils<A extends readonly AnyToken[]> = Both<Offered<A[number]>>

/**
 * A conditional type, so that it is made of the tokens before the function is looked at: the object that the function gives has the type of the
 * tokens for its context, and `method: 'GET'` in it stays 'GET'.
 */
export type Creates<A extends readonly AnyToken[], D extends readonly Need[]> = A extends readonly AnyToken[] ? (...given: Given<D>) => Fulfils<A> : never

/**
 * The only way in which a plugin takes part. Everything is a singleton, made once before anything starts, after what it needs.
 * Constructors must not do work: that is what `Lifecycle.start` is for.
 */
export interface Binder {
  /** Offers one object under all tokens of `as`. What it needs is given to `create` in the order of `needs`. */
  readonly provide: <const A extends readonly AnyToken[], const D extends readonly Need[]>(
    as: A, needs: D, create: Creates<A, D>) => void
  /**
   * Puts an object in front of the one that `port` has so far: `create` gets that one first. Everybody who asks for the port gets the
   * outermost. `alsoAs` offers the decorator under multi-bound tokens too, such as Lifecycle.
   */
  readonly decorate: <T, const D extends readonly Need[]>(
    port: Token<T>, needs: D, create: (inner: T, ...given: Given<D>) => T, alsoAs?: readonly AnyToken[]) => void
}
