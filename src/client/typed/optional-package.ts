import { MillraceError } from '../../kernel/errors/index.ts'
import { thisMachine } from '../machine.ts'

/** Which releases of packages that are not dependencies have been tried. */
const triedVersions = { avsc: '5.7.9', protobufjs: '8.8.1' } as const

/** A package of the application's own, loaded when it is needed. Throws MR_CLIENT_PACKAGE_MISSING, which names it and `what` needs it. */
export function optionalPackage<T>(name: keyof typeof triedVersions, what: string, looksRight: (loaded: Partial<T>) => boolean, load: (name: string) => unknown = thisMachine().installedPackage): T {
  const missing = (reason: string, cause?: unknown): MillraceError => new MillraceError('MR_CLIENT_PACKAGE_MISSING', { what, package: name, version: triedVersions[name], reason }, cause)
  let loaded: unknown
  try {
    loaded = load(name)
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown, readonly message?: string }
    throw missing(code === 'MODULE_NOT_FOUND' ? 'it is not installed' : message ?? String(error), error)
  }
  if (typeof loaded !== 'object' || loaded === null || !looksRight(loaded as Partial<T>)) throw missing('it is another one than was expected')
  return loaded as T
}
