import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { beforeAll, expect, it } from 'vitest'
import { root } from '../meta/source-tree.ts'
import { ensureBuilt } from './built.ts'

beforeAll(() => { ensureBuilt() }, 120_000)

const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('millrace-demo-'))

it('npm run demo brings 50,000 flights through a broker and proves that they are those of the file', () => {
  const before = left()
  const demo = spawnSync('npm', ['run', '--silent', 'demo', '--', '--records', '50000', '--json'], { cwd: root, encoding: 'utf8' })
  expect([demo.status, demo.stderr.split('\n').filter((line) => line.includes('Error'))]).toEqual([0, []])
  const result = JSON.parse(demo.stdout) as { followed: { shares: { partitions: number[], records: number }[] }, checks: { claim: string, holds: boolean }[] }
  expect(result).toMatchObject({ records: 50_000, sent: { records: 50_000 }, followed: { records: 50_000 }, replayed: { records: 50_000 } })
  expect(result.checks.map((check) => check.holds)).toEqual([true, true, true, true])
  expect(result.followed.shares.map((share) => share.partitions.length)).toEqual([4, 4, 4])
  expect(result.followed.shares.reduce((sum, share) => sum + share.records, 0)).toBe(50_000)
  expect(left()).toEqual(before)
})

it('npm run demo refuses a number of records that is none', () => {
  const demo = spawnSync('npm', ['run', '--silent', 'demo', '--', '--records', 'many'], { cwd: root, encoding: 'utf8' })
  expect([demo.status, demo.stdout]).toEqual([1, ''])
  expect(demo.stderr).toContain('--records many: it takes a whole number from 1 to 3000000')
})
