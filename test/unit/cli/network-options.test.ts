import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectionOf } from '../../../src/cli/network-options.ts'

let folder = ''
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'millrace-cli-')) })
afterEach(() => { rmSync(folder, { recursive: true, force: true }) })

describe('whom a command talks to', () => {
  it('is the option, then the environment, then the file, then this machine', () => {
    const path = join(folder, 'client.properties')
    writeFileSync(path, 'bootstrap.servers=file:1\nclient.id=me\n')
    const flags = { output: 'text', commandConfig: path } as const
    const environment = { MILLRACE_BOOTSTRAP: 'environment:1' }
    expect(connectionOf({ ...flags, bootstrap: 'option:1' }, environment)).toMatchObject({ bootstrap: 'option:1', clientId: 'me' })
    expect(connectionOf(flags, environment).bootstrap).toBe('environment:1')
    expect(connectionOf(flags, { MILLRACE_BOOTSTRAP: '' }).bootstrap).toBe('file:1')
    expect(connectionOf({ output: 'text' }, {})).toMatchObject({ bootstrap: '127.0.0.1:9092', clientId: 'millrace-cli' })
  })

  it('a file that is not there is refused with its path', () => {
    expect(() => connectionOf({ output: 'text', commandConfig: join(folder, 'none') }, {})).toThrow(expect.objectContaining({ code: 'MR_CONFIG_FILE', message: expect.stringContaining('none') }))
  })
})
