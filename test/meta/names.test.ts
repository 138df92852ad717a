import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../src/kernel/errors/index.ts'
import { root, sourceFiles } from './source-tree.ts'

describe('names', () => {
  it('files are kebab-case, and none is a drawer for leftovers', () => {
    const bad = sourceFiles().filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/.test(basename(path)) || /^(utils?|helpers?|common|misc|manager)\.ts$/.test(basename(path)))
    expect(bad).toEqual([])
  })
  it('error codes are sorted by area and well formed', () => {
    const codes = Object.keys(errorTable)
    expect(codes.filter((code) => !/^MR_[A-Z]+(_[A-Z0-9]+)+$/.test(code))).toEqual([])
    const areas = codes.map((code) => code.split('_')[1]!)
    expect(areas).toEqual([...areas].sort())
  })
  it('every plugin has a README of its own', () => {
    const plugins = [...new Set(sourceFiles().filter((path) => path.startsWith('plugins/')).map((path) => path.split('/')[1]!))]
    const bare = plugins.filter((name) => { try { return readFileSync(join(root, 'src/plugins', name, 'README.md'), 'utf8').length < 200 } catch { return true } })
    expect(bare).toEqual([])
  })
})
