import { MillraceError } from '../kernel/errors/index.ts'

/**
 * Who writes without types may take one class for another, and would be told that something is not a function. Each of these methods throws MR_CLIENT_UNSUPPORTED
 * with the reason. They are in no type, and nobody who lists what an object has sees them.
 */
export function refuseMethods(of: { readonly prototype: object }, names: readonly string[], reason: string): void {
  for (const name of names) {
    const value = (): never => { throw new MillraceError('MR_CLIENT_UNSUPPORTED', { what: `consumer.${name}`, reason }) }
    Object.defineProperty(of.prototype, name, { value, enumerable: false, configurable: true, writable: true })
  }
}
