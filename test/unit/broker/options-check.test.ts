import { describe, expect, it } from 'vitest'
import { type MillraceError } from '../../../src/kernel/errors/index.ts'
import { checkOptions, examineOptions } from '../../../src/broker/options-check.ts'

/** What is said of each mistake, by key. */
function faultsOf(given: unknown): Record<string, string> {
  const faults: Record<string, string> = {}
  examineOptions(given, (error, key) => { faults[key ?? ''] = error.message })
  return faults
}

describe('the options of a broker', () => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['preset', 'disk', 'it must be single-node or memory'],
    ['plugins', './one.mjs', 'it must be a list'],
    ['plugins.0', 5, 'the name of a package'],
    ['without', 'admin-http', 'it must be a list'],
    ['without.0', '', 'the name of a plugin of the preset'],
    ['settings', ['x'], 'it must be an object'],
    ['settings.observability', 'info', 'it must be the settings of a plugin by their names'],
    ['broker', 5, 'it must be an object'],
    ['broker', new Map([['num.partitions', 3]]), 'invalid value a Map for broker: it must be an object'],
    ['settings', new Map(), 'invalid value a Map for settings: it must be an object'],
    ['settings.observability', new Map(), 'invalid value a Map for settings.observability: it must be the settings of a plugin'],
    ['plugins', new Set(['./a.mjs']), 'invalid value a Set for plugins: it must be a list'],
    ['http', false, 'invalid value false for http: it must be HOST:PORT, with a port from 0 to 65535, or off'],
    ['broker.log.dirs', ['a', 'b'], 'it must be a text, a number, true or false'],
    ['data', [], 'a directory, or a list of directories'],
    ['listen', 9092, 'it must be HOST:PORT, with a port from 0 to 65535'],
    ['listen', '127.0.0.1:70000', 'it must be HOST:PORT, with a port from 0 to 65535'],
    ['advertise', 'host', 'it must be HOST:PORT, with a port from 0 to 65535'],
    ['http', 'none', 'it must be HOST:PORT, with a port from 0 to 65535, or off'],
    ['nodeId', -1, 'a whole number from 0 to 2147483647'],
    ['insecure', 'yes', 'it must be true or false'],
    ['logLevel', 'trace', 'it must be debug, info, warn, error or silent'],
  ]
  it.each(wrong)('say what %s must be, in their own words, where it is %j', (path, value, message) => {
    const [option, ...rest] = path.split('.')
    const given = { [option!]: rest.length === 0 ? value : rest[0] === '0' ? [value] : { [rest.join('.')]: value } }
    const faults = faultsOf(given)
    expect(Object.keys(faults)).toEqual([path])
    expect(faults[path]).toContain(message)
    expect(faults[path]).not.toMatch(/Invalid|expected|received/)
  })

  it('are an object of their own, and no Map of them', () => {
    expect(faultsOf(new Map([['preset', 'memory']]))).toEqual({ '': 'invalid value a Map for configuration: it must be an object of options' })
  })

  it('that are right are taken as they are', () => {
    const right = {
      preset: 'memory', plugins: ['./a.mjs', { use: 'b', instead: 'admin-http' }], without: ['admin-http'], settings: { 'protocol-kafka': { warmup: false } },
      broker: { 'num.partitions': 3, 'durability': 'os', 'auto.create.topics.enable': false }, data: ['a', 'b'], listen: '[::1]:0', advertise: 'host:1', http: 'off',
      nodeId: 0, insecure: false, logLevel: 'silent',
    }
    expect(faultsOf(right)).toEqual({})
    expect(checkOptions(right)).toEqual(right)
  })

  it('are told all that is wrong at once, and what is left is what is right', () => {
    const seen: string[] = []
    const left = examineOptions({ presett: 'memory', nodeId: 3, http: 'x', settings: { 'admin-http': {}, 'x': 1 } }, (_error, key) => { seen.push(String(key)) })
    expect(seen).toEqual(['presett', 'http', 'settings.x'])
    expect(left).toEqual({ nodeId: 3, settings: { 'admin-http': {} } })
  })

  it('say where a setting belongs that stands at the wrong place', () => {
    expect(faultsOf({ 'num.partitions': 3, 'settings': { 'log.retention.ms': 5, 'logLevel': 'info' } })).toEqual({
      'num.partitions': 'unknown setting num.partitions; it is a setting of the broker: put it under `broker:`',
      'settings.log.retention.ms': 'unknown setting settings.log.retention.ms; it is a setting of the broker: put it under `broker:`',
      'settings.logLevel': 'unknown setting settings.logLevel; it is no setting of a plugin: put it beside `settings:`, not into it',
    })
  })

  it('are refused with the first mistake and how many there are beside it', () => {
    expect(() => checkOptions({ lisen: 'x' })).toThrow(/^unknown setting lisen; did you mean listen\?$/)
    expect(() => checkOptions({ lisen: 'x', http: 'x', nodeId: 'x' })).toThrow(/^unknown setting lisen; did you mean listen\? \(and 2 more mistakes\)$/)
    const thrown = ((): MillraceError => { try { checkOptions('text') } catch (error) { return error as MillraceError } throw new Error('taken') })()
    expect(thrown.code).toBe('MR_CONFIG_INVALID')
  })
})

it('refuses a short option beside the setting of a plugin that it stands for', () => {
  expect(() => checkOptions({ http: 'off', settings: { 'admin-http': { listen: '127.0.0.1:9555' } } })).toThrow(/settings\.admin-http\.listen says the same/)
  expect(() => checkOptions({ logLevel: 'warn', settings: { observability: { logLevel: 'error' } } })).toThrow(/settings\.observability\.logLevel says the same/)
  expect(checkOptions({ http: 'off', settings: { 'admin-http': { insecure: true } } })).toMatchObject({ http: 'off' })
})
