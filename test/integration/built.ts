import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../meta/source-tree.ts'

export const mainJs = join(root, 'dist/cli/main.js')

/** Compiles dist/ when a source is newer: tests of the command and of packages run what users run. */
export function ensureBuilt(): void {
  const newest = Math.max(...readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts')).map((path) => statSync(join(root, 'src', path)).mtimeMs))
  const built = statSync(mainJs, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (built > newest) return
  const build = spawnSync(process.execPath, [join(root, 'scripts/prepare.mjs')], { cwd: root, encoding: 'utf8' })
  if (build.status !== 0) throw new Error(`the build failed:\n${build.stdout}${build.stderr}`)
}
