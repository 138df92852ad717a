import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cacheLifeOf } from '../../../src/platform/cache-life.ts'

const directory = mkdtempSync(join(tmpdir(), 'millrace-cache-life-'))
const path = join(directory, 'file')
writeFileSync(path, '')
afterAll(() => { rmSync(directory, { recursive: true, force: true }) })

const known = cacheLifeOf(path, () => 'boot-1') !== undefined

describe('the name of the life of a file\'s page cache', () => {
  it.skipIf(!known)('is another one after another boot', () => {
    expect(cacheLifeOf(path, () => 'boot-2')).not.toBe(cacheLifeOf(path, () => 'boot-1'))
  })

  it('is unknown where the boot has no id', () => {
    expect(cacheLifeOf(path, () => undefined)).toBeUndefined()
  })

  it.skipIf(!existsSync('/proc/self/status'))('is unknown on a file system that is not this machine\'s own disk', () => {
    expect(cacheLifeOf('/proc/self/status', () => 'boot-1')).toBeUndefined()
  })
})
