import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * A package that may be installed or not: from where this one is installed, else from the directory that the process runs in. Those of the CommonJS kind. Throws
 * what Node's loader throws.
 */
export function installedPackage(name: string): unknown {
  try {
    return createRequire(import.meta.url)(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    return createRequire(join(process.cwd(), 'package.json'))(name)
  }
}
