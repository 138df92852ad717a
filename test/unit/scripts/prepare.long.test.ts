import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { root } from '../../meta/source-tree.ts'

const made: string[] = []
afterEach(() => { for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true }) })

/** A package of two modules with the project's own scripts and development packages. */
function checkout() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-prepare-'))
  made.push(folder)
  const at = (path: string) => join(folder, path)
  mkdirSync(at('src/cli'), { recursive: true })
  mkdirSync(at('scripts'))
  for (const name of ['prepare.mjs', 'bundle.mjs']) cpSync(join(root, 'scripts', name), at(`scripts/${name}`))
  writeFileSync(at('tsconfig.build.json'), JSON.stringify({
    compilerOptions: { target: 'es2022', lib: ['es5'], module: 'nodenext', types: [], strict: true, sourceMap: true, rewriteRelativeImportExtensions: true, rootDir: 'src' },
    include: ['src'],
  }))
  symlinkSync(join(root, 'node_modules'), at('node_modules'))
  writeFileSync(at('package.json'), JSON.stringify({
    name: 'small', type: 'module', bin: { small: 'dist/cli/main.js' }, exports: { '.': { default: './dist/index.js' } }, optionalDependencies: {},
  }))
  writeFileSync(at('src/index.ts'), `export const answer: number = 42\n`)
  writeFileSync(at('src/cli/main.ts'), `import { answer } from '../index.ts'\ndeclare const process: { stdout: { write(text: string): void } }\nprocess.stdout.write(String(answer))\n`)
  const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return {
    at, node, prepare: (...args: string[]) => node('scripts/prepare.mjs', ...args), main: () => node('dist/cli/main.js').stdout,
    inode: () => statSync(at('dist')).ino, besides: () => readdirSync(folder).filter((name) => /^\.?dist./.test(name)),
  }
}

/** Of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid

describe('the build', () => {
  it('joins the modules, and leaves a dist that is current alone until a source changes or it is told to', () => {
    const { at, prepare, main, inode, besides } = checkout()
    expect(prepare()).toMatchObject({ status: 0, stderr: '' })
    expect(main()).toBe('42')
    expect(existsSync(at('dist/THIRD-PARTY-LICENSES.txt'))).toBe(true)
    expect(readFileSync(at('dist/index.js.map'), 'utf8')).not.toContain('building')
    const first = inode()
    expect(prepare()).toMatchObject({ status: 0, stdout: '' })
    expect(inode()).toBe(first)
    writeFileSync(at('src/index.ts'), `export const answer: number = 43\n`)
    expect(prepare().status).toBe(0)
    expect(main()).toBe('43')
    const second = inode()
    expect(prepare('--force').status).toBe(0)
    expect(inode()).not.toBe(second)
    expect(besides()).toEqual([])
  })

  it('that fails, or is killed while it compiles, leaves dist as it was', () => {
    const { at, node, prepare, main, inode, besides } = checkout()
    expect(prepare().status).toBe(0)
    const first = inode()
    writeFileSync(at('src/index.ts'), `export const answer: number = 'none'\n`)
    expect(prepare().status).not.toBe(0)
    expect([inode(), main(), besides()]).toEqual([first, '42', []])
    // A compiler that kills the build that runs it.
    const compiler = at('compiler/node_modules/typescript/bin')
    mkdirSync(compiler, { recursive: true })
    writeFileSync(join(compiler, 'tsc'), `const { mkdirSync } = require('node:fs'); mkdirSync(process.argv.at(-1)); process.kill(process.ppid, 'SIGKILL')`)
    chmodSync(join(compiler, 'tsc'), 0o755)
    rmSync(at('node_modules'))
    symlinkSync(at('compiler/node_modules'), at('node_modules'))
    expect(prepare().signal).toBe('SIGKILL')
    expect(besides()).toEqual([expect.stringMatching(/^dist\.building-\d+$/)])
    expect([inode(), main()]).toEqual([first, '42'])
    rmSync(at('node_modules'))
    expect(node('scripts/prepare.mjs').status).toBe(0)
    expect(besides()).toEqual([])
  })

  it('removes what dead builds left, puts back a dist that one had moved away, and leaves those that are at work', () => {
    const { at, prepare, main, besides } = checkout()
    expect(prepare().status).toBe(0)
    const dead = deadPid()
    cpSync(at('dist'), at(`dist.old-${dead}`), { recursive: true })
    rmSync(at('dist'), { recursive: true })
    for (const name of [`dist.building-${dead}`, `dist.building-${dead}.joined`, `dist.building-${process.pid}`]) mkdirSync(at(name))
    expect(prepare()).toMatchObject({ status: 0, stdout: '' })
    expect(main()).toBe('42')
    expect(besides()).toEqual([`dist.building-${process.pid}`])
  })

  it('leaves a package that came with its dist, and with no source but READMEs, as it is', () => {
    const { at, prepare, main, inode, besides } = checkout()
    expect(prepare().status).toBe(0)
    const first = inode()
    for (const name of ['src/index.ts', 'src/cli']) rmSync(at(name), { recursive: true })
    mkdirSync(at('src/plugins/some'), { recursive: true })
    writeFileSync(at('src/plugins/some/README.md'), '# some\n')
    expect(prepare('--force')).toMatchObject({ status: 0, stdout: '', stderr: '' })
    expect([inode(), main(), besides()]).toEqual([first, '42', []])
  })

  it('without development packages says what to install, and does not fail', () => {
    const { at, prepare } = checkout()
    rmSync(at('node_modules'))
    const { status, stderr } = prepare()
    expect(status).toBe(0)
    expect(stderr).toContain('npm ci --include=dev')
    expect(existsSync(at('dist'))).toBe(false)
  })
})
