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

it.each([
  [['--records', 'many'], '--records many: it takes a whole number from 1 to 3000000'],
  [['--records', '3000001'], '--records 3000001: it takes a whole number from 1 to 3000000'],
  [['--recrods', '5'], 'Unknown option \'--recrods\''],
  [['five'], 'Unexpected argument \'five\''],
])('npm run demo refuses %j with its usage and exit code 2', (args, message) => {
  const demo = spawnSync('npm', ['run', '--silent', 'demo', '--', ...args], { cwd: root, encoding: 'utf8' })
  expect([demo.status, demo.stdout]).toEqual([2, ''])
  expect(demo.stderr).toMatch(/^error: .*\n\nUsage: npm run demo/)
  expect(demo.stderr).toContain(message)
  expect(demo.stderr).not.toMatch(/^ +at /m)
})

it('npm run demo -- --help says what it takes, and does nothing', () => {
  const demo = spawnSync('npm', ['run', '--silent', 'demo', '--', '--help'], { cwd: root, encoding: 'utf8' })
  expect([demo.status, demo.stderr]).toEqual([0, ''])
  expect(demo.stdout).toMatch(/^Usage: npm run demo/)
})
