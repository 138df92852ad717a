// Runs after `npm ci` in a checkout, and after every `npm install` in a project that is linked to one: compiles src/ and joins the modules in
// a directory beside dist/, and swaps the two when all is done. So dist/ is whole at any time but the moment between two renames; a build that
// fails or is interrupted leaves it as it was. Where dist/ is made of just these sources nothing is built, unless --force asks for it.
// Where the development packages were left out (`npm ci --omit=dev`) there is no compiler, and this says what to do instead of failing the install.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const building = join(root, `dist.building-${process.pid}`)
const replaced = join(root, `dist.old-${process.pid}`)
/** Names what dist/ was made of; written last, so that a dist/ with it is whole. */
const stampFile = 'built-from.txt'

/**
 * The compiler that `npm run types` uses writes the same as the version before it, but for quotation marks and the order of some types, in a
 * fifth of the time; that one is for platforms it has no program for.
 */
function findCompiler() {
  const require = createRequire(import.meta.url)
  try {
    const manifest = require.resolve('typescript-7/package.json')
    createRequire(manifest).resolve(`@typescript/typescript-${process.platform}-${process.arch}/package.json`)
    return join(manifest, '../bin/tsc')
  } catch {
    try {
      return require.resolve('typescript/bin/tsc')
    } catch {
      return undefined
    }
  }
}

/** A hash of everything that decides what a build writes: contents, since a checkout of an older commit has newer times. */
function sourcesHash() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort()
  const others = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/prepare.mjs', 'scripts/bundle.mjs']
  const hash = createHash('sha256')
  for (const path of [...sources, ...others.map((name) => join(root, name))]) {
    if (!existsSync(path)) continue
    const content = readFileSync(path)
    hash.update(`${path.slice(root.length)}\n${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

function stampOf(directory) {
  try {
    return readFileSync(join(directory, stampFile), 'utf8').trim()
  } catch {
    return undefined
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return pid !== process.pid
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** What builds left that died: one between its two renames left no dist/ but the old one, which is put back. */
function clearLeftovers() {
  for (const name of readdirSync(root)) {
    const [, kind, pid] = /^dist\.(building|old)-(\d+)(?:\.joined)?$/.exec(name) ?? []
    if (kind === undefined || isAlive(Number(pid))) continue
    if (kind === 'old' && !existsSync(dist)) renameSync(join(root, name), dist)
    else rmSync(join(root, name), { recursive: true, force: true })
  }
}

/** Another build may end at the same time: then the later one's dist/ stays. */
function swap() {
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (existsSync(dist)) renameSync(dist, replaced)
      renameSync(building, dist)
      break
    } catch (error) {
      if (attempt === 5 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) || !existsSync(building)) throw error
    } finally {
      if (existsSync(dist)) rmSync(replaced, { recursive: true, force: true })
    }
  }
}

async function build(compiler, stamp) {
  const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', building], { cwd: root, stdio: 'inherit' })
  if (compiled.status !== 0) return compiled.status ?? 1
  let joined = false
  try {
    await (await import('./bundle.mjs')).bundle(building)
    joined = true
  } catch (error) {
    console.error(`millrace: the modules were not joined, so that a start takes twice as long: ${error.message}`)
  }
  const main = join(building, 'cli/main.js')
  if (existsSync(main)) {
    if (!readFileSync(main, 'utf8').startsWith('#!')) writeFileSync(main, '#!/usr/bin/env node\n' + readFileSync(main, 'utf8'))
    chmodSync(main, 0o755)
  }
  // Without it the next one tries again to join them.
  if (joined) writeFileSync(join(building, stampFile), `${stamp}\n`)
  swap()
  return 0
}

clearLeftovers()
const compiler = findCompiler()
if (!existsSync(join(root, 'src/index.ts'))) process.exit(0) // a published package: dist/ came along
if (compiler === undefined) {
  if (existsSync(join(dist, 'cli/main.js'))) process.exit(0)
  console.error('millrace: the TypeScript compiler is not installed, so dist/ was not built.')
  console.error('millrace: run `npm ci --include=dev` in this folder, or install the published package instead.')
  process.exit(0)
}
const usage = 'Usage: npm run build, or node scripts/prepare.mjs [--force]\n\nCompiles src/ into dist/ where dist/ is not made of just these sources.\n\n  --force   in any case'
if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit(0)
}
const unknown = process.argv.slice(2).find((word) => word !== '--force')
if (unknown !== undefined) {
  console.error(`error: Unknown option '${unknown}'\n\n${usage}`)
  process.exit(2)
}
// Before the compiler reads them: what is changed meanwhile is built the next time.
const stamp = sourcesHash()
if (process.argv.includes('--force') || stampOf(dist) !== stamp) {
  try {
    process.exitCode = await build(compiler, stamp)
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
}
