import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../meta/source-tree.ts'

export const mainJs = join(root, 'dist/cli/main.js')

/** Makes dist/ where it is not of these sources: tests of the command and of packages run what users run. */
export function ensureBuilt(): void {
  const build = spawnSync(process.execPath, [join(root, 'scripts/prepare.mjs')], { cwd: root, encoding: 'utf8' })
  if (build.status !== 0) throw new Error(`the build failed:\n${build.stdout}${build.stderr}`)
}
