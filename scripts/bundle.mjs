// Joins the modules of a dist/ to be, as the compiler wrote them, and the packages with many small modules into few files, the public entry
// points where package.json says they are. A start that loads tens of files instead of hundreds takes half the CPU and 20 MB less memory.
// All entry points are built together and share what they have in common, so that a plugin of a package that imports `millrace/kernel`
// gets the very modules of the broker that loads it.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Left as packages: those with native parts, and those that may be missing. */
function outside({ optionalDependencies }) {
  return [/^node:/, 'level', 'classic-level', 'jiti', ...Object.keys(optionalDependencies)]
}

/** Modules that run in threads of their own: they are loaded by their paths. */
const threads = ['client/group/stand-in-thread', 'plugins/storage-local/compaction-thread']

/** What package.json offers, and what runs in threads, by its path in dist/ without `.js`. */
function entryPoints(dist, { exports, bin }) {
  const paths = [...Object.values(bin), ...Object.values(exports).flatMap((entry) => entry.default ?? [])]
    .map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, ''))
  return [...paths, ...threads].flatMap((path) => {
    const [before, after] = path.split('*')
    return after === undefined ? [path] : readdirSync(join(dist, before)).map((name) => before + name + after)
  }).filter((path) => existsSync(join(dist, `${path}.js`)))
}

/** The licences of the packages that were joined in: they ask to go along. */
function writeLicences(dist, moduleIds) {
  const packages = new Set([...moduleIds].flatMap((id) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
  const texts = [...packages].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
    const file = readdirSync(directory).find((path) => /^licen[cs]e/i.test(path))
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(directory, file), 'utf8').trim()}\n`
  })
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
}

function removeModules(directory) {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (statSync(path).isDirectory()) removeModules(path)
    else if (/\.js(\.map)?$/.test(name)) rmSync(path)
  }
}

function moveInto(from, to) {
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)]
    if (existsSync(target) && statSync(target).isDirectory()) moveInto(source, target)
    else renameSync(source, target)
  }
}

/** `dist`: the directory that the compiler wrote to, beside the dist/ that it will replace. */
export async function bundle(dist) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const build = await rolldown({
    input: Object.fromEntries(entryPoints(dist, manifest).map((path) => [path, join(dist, `${path}.js`)])),
    cwd: root, platform: 'node', external: outside(manifest), logLevel: 'warn',
  })
  const joined = `${dist}.joined`
  try {
    // As deep as the modules that they are made of: a path relative to `import.meta.url` stays right.
    const { output } = await build.write({
      dir: joined, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js', sourcemap: true, comments: false,
      sourcemapPathTransform: (path) => path.replace(basename(dist), 'dist'),
    })
    removeModules(dist)
    moveInto(joined, dist)
    writeLicences(dist, new Set(output.flatMap((chunk) => chunk.type === 'chunk' ? chunk.moduleIds : [])))
  } finally {
    await build.close()
    rmSync(joined, { recursive: true, force: true })
  }
}
