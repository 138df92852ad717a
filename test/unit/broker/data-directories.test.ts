import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { composeBroker } from '../../../src/broker/index.ts'

let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-data-'))
  mkdirSync(join(directory, 'real'))
  symlinkSync(join(directory, 'real'), join(directory, 'link'))
})
afterAll(() => { rmSync(directory, { recursive: true, force: true }) })

const compose = (...data: string[]) => composeBroker({ file: { data } })

describe('a data directory that is given twice', () => {
  const twice: readonly (readonly [string, string])[] = [['d6', './d6/'], ['d6', 'x/../d6'], ['TEST/real', 'TEST/link'], ['TEST/link/new', 'TEST/real/new'], ['d6', 'HERE/d6']]
  it.each(twice)('is refused as such, however it is written: %s and %s', async (...names) => {
    const [first, again] = names.map((name) => name.replace('TEST', directory).replace('HERE', process.cwd()))
    await expect(compose(first!, again!)).rejects.toMatchObject({
      code: 'MR_CONFIG_INVALID', message: `invalid value ${first},${again} for log.dirs: ${first} and ${again} are one directory, given twice; keep one of them`,
    })
  })

  it('in the same words is refused, too', async () => {
    await expect(compose('d6', 'd6')).rejects.toMatchObject({ code: 'MR_CONFIG_INVALID', details: { key: 'log.dirs' } })
  })

  it.each([['d6', 'd6/disk-1'], ['d6/disk-1', 'd6'], ['TEST/real/in', 'TEST/link']])('is not one that lies in another, which is refused too: %s and %s', async (...names) => {
    const [first, again] = names.map((name) => name.replace('TEST', directory))
    await expect(compose(first!, again!)).rejects.toMatchObject({ code: 'MR_CONFIG_INVALID', message: expect.stringMatching(/ lies in .*; keep them beside one another$/) })
  })

  it('is none where the names lead to different places', async () => {
    await expect(compose('d6', 'x/d6', join(directory, 'real'), 'd6x')).resolves.toBeDefined()
  })
})

it.each(['/', '//', '/./', '/tmp/..'])('the root of the file system is refused as a data directory, however it is written: %s', async (path) => {
  await expect(compose(path)).rejects.toMatchObject({ code: 'MR_CONFIG_INVALID', message: expect.stringContaining(`${path} is the root of the file system; name a directory`) })
})
