import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { composeFromFlags } from '../../../src/cli/commands/start.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-mistakes-'))
afterAll(() => { rmSync(folder, { recursive: true, force: true }) })

it('a start names every mistake, of the file and of the command line, a line each, and makes nothing', async () => {
  const path = join(folder, 'wrong.config.yaml')
  writeFileSync(path, 'lisen: x\nnodeId: first\nbroker:\n  num.partition: 3\nsettings:\n  observability:\n    loglevel: info\n')
  const lines: string[] = []
  const written = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  try {
    const composed = composeFromFlags({ config: path, data: [join(folder, 'data')], set: [['log.retention.hours', 'long']] })
    await expect(composed).rejects.toMatchObject({ code: 'MR_HOST_SETTING', message: expect.stringContaining('loglevel') })
  } finally {
    written.mockRestore()
  }
  expect(lines).toEqual([
    expect.stringContaining(`MR_CONFIG_FILE: configuration ${path}: unknown setting lisen; did you mean listen?`), expect.stringMatching(/MR_CONFIG_FILE: .*nodeId/),
    expect.stringMatching(/MR_CONFIG_UNKNOWN: .*num\.partition; did you mean num\.partitions\?/), expect.stringMatching(/MR_CONFIG_INVALID: .*log\.retention\.hours/),
  ])
  expect(readdirSync(folder)).toEqual(['wrong.config.yaml'])
})

it('a start without mistakes says nothing of the kind', async () => {
  const path = join(folder, 'right.config.json')
  writeFileSync(path, '{ "nodeId": 7 }')
  const composed = await composeFromFlags({ config: path, preset: 'memory' })
  expect([composed.settings.nodeId, composed.configPath]).toEqual([7, path])
  rmSync(path)
})
