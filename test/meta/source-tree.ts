import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const root = normalize(join(dirname(fileURLToPath(import.meta.url)), '..', '..'))
const sourceRoot = join(root, 'src')

/** Paths of all source files, relative to src/. */
export function sourceFiles(): string[] {
  return readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .sort()
}

export interface Import {
  readonly from: string
  /** A path relative to src/, or a package name. */
  readonly to: string
  readonly kind: 'file' | 'package'
}

/** Everything a file imports, types and dynamic imports included. */
export function importsOf(path: string, text = readFileSync(join(sourceRoot, path), 'utf8')): Import[] {
  const { importedFiles } = ts.preProcessFile(text, true, true)
  return importedFiles.map(({ fileName }) => fileName.startsWith('.')
    ? { from: path, to: relative(sourceRoot, join(sourceRoot, dirname(path), fileName)).replaceAll('\\', '/'), kind: 'file' }
    : { from: path, to: packageOf(fileName), kind: 'package' })
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}
