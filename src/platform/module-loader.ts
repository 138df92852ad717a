import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Where relative paths of a configuration without a file of its own begin. */
export const workingDirectory = (): string => process.cwd()

export const resolvePath = (directory: string, path: string): string => isAbsolute(path) ? path : resolve(directory, path)

/** Where a file lies. */
export const folderOf = (path: string): string => dirname(path)

/** The directory that a path leads to, by one name however it is written: links followed as far as it is there. */
export function realPath(directory: string, path: string): string {
  const whole = resolve(directory, path)
  try {
    return realpathSync(whole)
  } catch {
    const parent = dirname(whole)
    return parent === whole ? whole : join(realPath(directory, parent), basename(whole))
  }
}

/**
 * Imports a module by what a configuration in `directory` calls it: a path that begins with a dot or a slash, or the name of a package
 * installed there. TypeScript is compiled on the way where this Node does not read it itself. Rejects with the loader's own error.
 */
export async function importModule(name: string, directory: string): Promise<Record<string, unknown>> {
  const path = /^[./]/.test(name) ? resolvePath(directory, name) : resolvePackage(name, directory)
  if (/\.[cm]?ts$/.test(path)) {
    const { createJiti } = await import('jiti')
    return await createJiti(pathToFileURL(join(directory, 'config.js')).href).import(path)
  }
  return await import(pathToFileURL(path).href) as Record<string, unknown>
}

/** The entry of an ESM or CommonJS package as Node finds it from `directory`. */
function resolvePackage(name: string, directory: string): string {
  const require = createRequire(join(directory, 'package.json'))
  try {
    return require.resolve(name)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
    return resolveImportOnly(name, require, error)
  }
}

/** A package whose `exports` has only an `import` condition: its entry is read from its package.json. */
function resolveImportOnly(name: string, require: NodeJS.Require, cause: unknown): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const base = join(folder, name)
      const manifest = require(join(base, 'package.json')) as { exports?: unknown }
      const entry = importEntry(manifest.exports)
      if (entry !== undefined) return join(base, entry)
    } catch {
      // Not in this folder; the next one up may have it.
    }
  }
  throw cause
}

function importEntry(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports
  if (typeof exports !== 'object' || exports === null) return undefined
  const map = exports as Record<string, unknown>
  return importEntry(map['.'] ?? map['import'] ?? map['default'])
}
