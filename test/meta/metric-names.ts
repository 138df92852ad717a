import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, sourceFiles } from './source-tree.ts'

/** Whole names of metrics in the source, those included that a broker serves only in some state; not the beginnings of names that are put together, nor the names that a kit makes up. */
export function metricNamesInSource(): ReadonlySet<string> {
  const paths = sourceFiles().filter((path) => !/^(testkit|kernel)\//.test(path))
  return new Set(paths.flatMap((path) => [...readFileSync(join(root, 'src', path), 'utf8').matchAll(/['`](millrace_[a-z_]*[a-z])['`]/g)].map(([, name]) => name!)))
}
