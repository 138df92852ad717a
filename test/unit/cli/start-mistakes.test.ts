import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { lintConfigFile } from '../../../src/broker/config-lint.ts'
import { composeFromFlags } from '../../../src/cli/commands/start.ts'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-mistakes-'))
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

it('a start names every mistake, of the file and of the command line, a line each, and makes nothing', async () => {
  const path = join(folder, 'wrong.config.yaml')
  writeFileSync(path, 'lisen: x\nnodeId: first\nbroker:\n  num.partition: 3\nsettings:\n  observability:\n    loglevel: info\n')
  const lines: string[] = []
  const written = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  try {
    const composed = composeFromFlags({ config: path, data: [join(folder, 'data')], set: [['log.retention.hours', 'long']] })
    await expect(composed).rejects.toMatchObject({ code: 'MR_HOST_SETTING', message: expect.stringMatching(/^\/.*wrong\.config\.yaml: .*loglevel/) })
  } finally {
    written.mockRestore()
  }
  expect(lines).toEqual([
    expect.stringContaining(`MR_CONFIG_UNKNOWN: ${path}: unknown setting lisen; did you mean listen?`), expect.stringContaining(`MR_CONFIG_INVALID: ${path}: invalid value "first" for nodeId`),
    expect.stringContaining(`MR_CONFIG_UNKNOWN: ${path}: unknown setting num.partition; did you mean num.partitions?`), expect.stringMatching(/MR_CONFIG_INVALID: invalid value long for log\.retention\.hours/),
  ])
  expect(readdirSync(folder)).toEqual(['wrong.config.yaml'])
})

it('a start and a lint give each mistake of a file the same code, and name the file', async () => {
  const path = join(folder, 'same.config.yaml')
  writeFileSync(path, 'preset: memory\nlisen: x\nnodeId: first\nwithout: [retentoin]\nbroker:\n  num.partition: 3\n  log.segment.bytes: small\nsettings:\n  nobody: {}\n  observability:\n    loglevel: info\n')
  const { faults } = await lintConfigFile(new NodeFileSystem(), path, folder, { http: 'off', logLevel: 'info' })
  const lines: string[] = []
  const written = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  const last = await composeFromFlags({ config: path }).then(() => undefined, (error: unknown) => error as Error & { code: string }).finally(() => { written.mockRestore() })
  expect(faults).toHaveLength(7)
  expect([...lines.map((line) => line.trimEnd()), `error ${last!.code}: ${last!.message}`]).toEqual(faults.map(({ error }) => `error ${error.code}: ${path}: ${error.message}`))
  rmSync(path)
})

it('a start without mistakes says nothing of the kind', async () => {
  const path = join(folder, 'right.config.json')
  writeFileSync(path, '{ "nodeId": 7 }')
  const composed = await composeFromFlags({ config: path, preset: 'memory' })
  expect([composed.settings.nodeId, composed.configPath]).toEqual([7, path])
  rmSync(path)
})
