// Runs after `npm ci` in a checkout: compiles src/ to dist/ and joins the modules. Where the development packages were left out
// (`npm ci --omit=dev`) there is no compiler, and this says what to do instead of failing the install.
import { spawnSync } from 'node:child_process'
import { existsSync, chmodSync, readFileSync, writeFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
let compiler
try {
  compiler = require.resolve('typescript/bin/tsc')
} catch {
  if (existsSync(new URL('../dist/cli/main.js', import.meta.url))) process.exit(0)
  console.error('millrace: the TypeScript compiler is not installed, so dist/ was not built.')
  console.error('millrace: run `npm ci --include=dev` in this folder, or install the published package instead.')
  process.exit(0)
}
const root = new URL('..', import.meta.url)
rmSync(new URL('dist', root), { recursive: true, force: true })
const build = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
if (build.status !== 0) process.exit(build.status ?? 1)
try {
  await (await import('./bundle.mjs')).bundle()
} catch (error) {
  console.error(`millrace: the modules were not joined, so that a start takes twice as long: ${error.message}`)
}
const main = new URL('dist/cli/main.js', root)
if (existsSync(main)) {
  if (!readFileSync(main, 'utf8').startsWith('#!')) writeFileSync(main, '#!/usr/bin/env node\n' + readFileSync(main, 'utf8'))
  chmodSync(main, 0o755)
}
