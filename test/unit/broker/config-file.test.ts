import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configFileNames, findConfigFile, loadConfigFile } from '../../../src/broker/config-file.ts'
import { throwFault } from '../../../src/broker/config-fault.ts'
import { NodeFileSystem } from '../../../src/platform/node-file-system.ts'

const files = new NodeFileSystem()
let folder = ''
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'millrace-config-')) })
afterEach(() => { rmSync(folder, { recursive: true, force: true }) })

const found = () => findConfigFile(files, folder, throwFault)

function load(name: string, text: string) {
  writeFileSync(join(folder, name), text)
  return loadConfigFile(files, name, folder, throwFault)
}

const refusal = (message: RegExp): object => expect.objectContaining({ code: 'MR_CONFIG_FILE', message: expect.stringMatching(message) })

describe('the configuration that is looked for', () => {
  it.each(configFileNames)('is not passed over where %s is a directory or a link that leads nowhere', async (name) => {
    mkdirSync(join(folder, name))
    await expect(found()).rejects.toThrow(refusal(/it is a directory; name the file in it$/))
    rmSync(join(folder, name), { recursive: true })
    symlinkSync('nowhere', join(folder, name))
    await expect(found()).rejects.toThrow(refusal(/there is no such file; correct its path$/))
  })

  it('is none in a folder with other files', async () => {
    writeFileSync(join(folder, 'millrace.config.txt'), 'nodeId: 3')
    expect(await found()).toBeUndefined()
  })
})

describe('a configuration', () => {
  it.each([
    ['json', '{ "nodeId": 3, "broker": { "num.partitions": 1 }, "nodeId": 4 }', /nodeId is there twice; keep one of them$/],
    ['json', '{ "broker": { "num.partitions": 1, "num.partitions": 2 } }', /broker\.num\.partitions is there twice/],
    ['yaml', 'nodeId: 3\nnodeId: 4\n', /Map keys must be unique at line 2/],
    ['yml', 'broker:\n  num.partitions: 1\n  num.partitions: 2\n', /Map keys must be unique at line 3/],
  ])('with a key that is there twice is refused (%s: %j)', async (ending, text, message) => {
    await expect(load(`c.${ending}`, text)).rejects.toThrow(refusal(message))
  })

  it('whose name does not say what it is written in is refused with the endings that do', async () => {
    for (const name of ['c.txt', 'c.conf', 'c', 'c.properties', 'c.json5']) await expect(load(name, 'nodeId: 3'), name).rejects.toThrow(refusal(/give it one of \.ts, \.mjs, \.js, \.json, \.yaml$/))
  })

  it('that is a device, or larger than any could be, is refused before it is read', async () => {
    symlinkSync('/dev/zero', join(folder, 'zero.yaml'))
    await expect(loadConfigFile(files, 'zero.yaml', folder, throwFault)).rejects.toThrow(refusal(/it is no regular file; name one that is$/))
    writeFileSync(join(folder, 'large.json'), '')
    truncateSync(join(folder, 'large.json'), 2 ** 40)
    await expect(loadConfigFile(files, 'large.json', folder, throwFault)).rejects.toThrow(refusal(/it has 1099511627776 bytes/))
  })

  it('says off in YAML as in JSON', async () => {
    expect((await load('c.yaml', 'http: off\n')).options).toEqual({ http: 'off' })
    expect((await load('c.json', '{ "http": "off" }')).options).toEqual({ http: 'off' })
    // YAML 1.1 reads it as false.
    await expect(load('d.yaml', '%YAML 1.1\n---\nhttp: off\n')).rejects.toMatchObject({ code: 'MR_CONFIG_INVALID', message: expect.stringMatching(/d\.yaml: invalid value false for http: it must be HOST:PORT, with a port from 0 to 65535, or off/) })
  })
})
