import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectionOf, requestBytesMaxOf, withClient } from '../../../src/cli/network-options.ts'

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

  it('the size of requests of the file is the producer\'s, and no connection has it', () => {
    const path = join(folder, 'client.properties')
    writeFileSync(path, 'max.request.size=2097152\n')
    const flags = { output: 'text', commandConfig: path } as const
    expect(connectionOf(flags, {})).not.toHaveProperty('requestBytesMax')
    expect(requestBytesMaxOf(flags)).toBe(2_097_152)
    expect(requestBytesMaxOf({ output: 'text' })).toBeUndefined()
  })

  it('an address without a port is refused by the name of the option, with the usual port', async () => {
    const work = (): never => { throw new Error('nobody is asked') }
    await expect(withClient({ output: 'text', bootstrap: '127.0.0.1' }, work)).rejects.toMatchObject({
      code: 'MR_CLI_USAGE', message: expect.stringContaining('--bootstrap: "127.0.0.1" is not host:port; did you mean 127.0.0.1:9092?'),
    })
    const path = join(folder, 'client.properties')
    writeFileSync(path, 'bootstrap.servers=a:b:c\n')
    await expect(withClient({ output: 'text', commandConfig: path }, work)).rejects.toMatchObject({
      message: expect.stringMatching(/bootstrap\.servers in --command-config: "a:b:c" is not host:port$/),
    })
  })

  it('what is no file of settings is refused with its path, and read no further than such a file goes', () => {
    const path = join(folder, 'long.properties')
    writeFileSync(path, '#'.repeat(1_048_577))
    for (const [name, reason] of [[path, 'more than 1048576 bytes'], ['/dev/zero', 'no regular file'], [folder, 'a directory']] as const) {
      expect(() => connectionOf({ output: 'text', commandConfig: name }, {})).toThrow(expect.objectContaining({ code: 'MR_CONFIG_FILE', message: expect.stringMatching(`${name}: it .*${reason}`) }))
    }
    const pem = join(folder, 'client.properties')
    writeFileSync(pem, 'security.protocol=SSL\nssl.truststore.location=/dev/zero\n')
    expect(() => connectionOf({ output: 'text', commandConfig: pem }, {})).toThrow(/line 2: ssl\.truststore\.location=\/dev\/zero: it is no regular file/)
    writeFileSync(path, `#${'#'.repeat(1_048_574)}\n`)
    expect(connectionOf({ output: 'text', commandConfig: path }, {}).bootstrap).toBe('127.0.0.1:9092')
  })

  it('a pipe is read to its end, as shells hand secrets over', () => {
    const script = `import { readSmallFile } from ${JSON.stringify(join(process.cwd(), 'src/cli/small-file.ts'))}; process.stdout.write(readSmallFile('/dev/stdin'))`
    const { stdout } = spawnSync('sh', ['-c', 'printf "a=%s" 1 | "$0" "$@"', process.execPath, '--import', 'tsx', '--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(stdout).toBe('a=1')
  })

  it('a file that is not there is refused with its path', () => {
    expect(() => connectionOf({ output: 'text', commandConfig: join(folder, 'none') }, {})).toThrow(expect.objectContaining({ code: 'MR_CONFIG_FILE', message: expect.stringContaining('none') }))
  })
})
