import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AssertionError } from '../../../../src/base/assert.ts'
import { isMillraceError, MillraceError, type ErrorCode } from '../../../../src/kernel/errors/index.ts'
import { definePlugin, type Plugin } from '../../../../src/kernel/plugin/define-plugin.ts'
import { createHost } from '../../../../src/kernel/plugin/plugin-host.ts'
import { every, maybe, methodsOf, token, tokenName, type AnyToken } from '../../../../src/kernel/plugin/token.ts'
import * as kernel from '../../../../src/kernel/index.ts'
import { Clock, Timers } from '../../../../src/kernel/ports/clock.ts'
import { Lifecycle } from '../../../../src/kernel/ports/lifecycle.ts'

interface Store { read(): string }
const Store = token<Store>('Store')
interface Cache { hits: number }
const Cache = token<Cache>('Cache')
interface Route { path: string }
const Route = token<Route>('Route')

const noSettings = z.object({})

/** Timers of a world in which every deadline passes as soon as it is asked for, unless the work is done already. */
const world = (fire: 'never' | 'at once' = 'never'): Plugin => definePlugin({
  name: 'world', contract: 1, summary: 'time for the host', provides: [Clock, Timers], config: noSettings,
  register({ provide }) {
    provide([Clock], [], () => ({ wallMs: () => 0, monotonicMs: () => 0 }))
    provide([Timers], [], () => ({
      after: (_delayMs: number, callback: () => void) => {
        let live = true
        if (fire === 'at once') queueMicrotask(() => { if (live) callback() })
        return { cancel: () => { live = false } }
      },
      soon: (callback: () => void) => { queueMicrotask(callback) },
    }))
  },
})

const store = (text = 'plain', name = 'store'): Plugin => definePlugin({
  name, contract: 1, summary: 'a store', provides: [Store], config: noSettings, capabilities: { durable: false },
  register({ provide }) { provide([Store], [], () => ({ read: () => text })) },
})

const recorder = (name: string, log: string[], options: { needs?: typeof Store, fails?: boolean, hangs?: boolean, offers?: typeof Store } = {}): Plugin =>
  definePlugin({
    name, contract: 1, summary: 'says when it runs', config: noSettings,
    requires: options.needs ? [options.needs] : [], provides: options.offers ? [options.offers] : [],
    register({ provide }) {
      const make = () => ({
        read: () => name,
        start: async () => { log.push(`start ${name}`); if (options.fails) throw new Error('no disk') },
        stop: async () => { log.push(`stop ${name}`); if (options.hangs) await new Promise(() => {}) },
      })
      provide(options.offers ? [Lifecycle, options.offers] : [Lifecycle], options.needs ? [options.needs] : [], make)
    },
  })

const refusal = (make: () => unknown): string => {
  try { make() } catch (error) {
    if (isMillraceError(error)) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('nothing was refused')
}

const code = (make: () => unknown): ErrorCode => refusal(make).split(':')[0] as ErrorCode

describe('a composition is checked before anything runs', () => {
  it('two providers of one port are refused with both names', () => {
    expect(refusal(() => createHost({ plugins: [world(), store('a', 'one'), store('b', 'two')] }))).toMatch(/MR_HOST_PORT_TWICE.*Store.*one.*two/)
  })
  it('a port of the platform cannot be provided a second time, and nobody is told to replace the platform', () => {
    const platform: Plugin = { ...world(), name: 'platform' }
    const message = refusal(() => createHost({ plugins: [platform, { ...world(), name: 'my-clock' }] }))
    expect(message).toMatch(/MR_HOST_PORT_TWICE.*platform and by my-clock; let my-clock decorate it instead of providing it/)
    expect(message).not.toContain('instead: platform')
  })
  it('a required port without provider is refused with plugin and port', () => {
    expect(refusal(() => createHost({ plugins: [world(), recorder('reader', [], { needs: Store })] }))).toMatch(/MR_HOST_PORT_MISSING.*reader.*Store/)
  })
  it('a missing capability is refused with the reason for it', () => {
    const wants = definePlugin({
      name: 'ledger', contract: 1, summary: 'of a test', config: noSettings, requires: [Store],
      needsCapabilities: [{ port: Store, capability: 'durable', reason: 'money' }], register() {},
    })
    expect(refusal(() => createHost({ plugins: [world(), store(), wants] }))).toMatch(/MR_HOST_CAPABILITY_MISSING.*ledger.*durable \(money\).*store/)
  })
  it('another contract version is refused', () => {
    expect(code(() => createHost({ plugins: [world(), { ...store(), contract: 2 }] }))).toBe('MR_HOST_CONTRACT_VERSION')
  })
  it('two plugins of one name are refused', () => {
    expect(code(() => createHost({ plugins: [world(), store(), { ...store(), provides: [] }] }))).toBe('MR_HOST_PLUGIN_NAME_TWICE')
  })
  it('an unknown setting is refused with a suggestion, a wrong one with its reason', () => {
    const withSettings = definePlugin({
      name: 'tuned', contract: 1, summary: 'of a test', config: z.object({ segmentBytes: z.number().min(14).default(20).describe('Size.') }), register() {},
    })
    expect(refusal(() => createHost({ plugins: [world(), withSettings], settings: { tuned: { segmentByte: 1 } } }))).toMatch(/tuned, setting segmentByte: unknown; did you mean segmentBytes/)
    expect(refusal(() => createHost({ plugins: [world(), withSettings], settings: { tuned: { segmentBytes: 1 } } }))).toMatch(/MR_HOST_SETTING.*segmentBytes.*>=14/)
  })
  it('settings for a plugin that is not there are refused', () => {
    expect(code(() => createHost({ plugins: [world()], settings: { ghost: {} } }))).toBe('MR_HOST_PLUGIN_NOT_FOUND')
  })
  it('a plugin that does not say what it does is refused', () => {
    for (const summary of ['', undefined as unknown as string]) {
      expect(refusal(() => createHost({ plugins: [world(), { ...store(), summary }] }))).toMatch(/MR_HOST_PLUGIN_INVALID.*summary/)
    }
  })
  it('a setting without description is refused', () => {
    const vague = definePlugin({ name: 'vague', contract: 1, summary: 'of a test', config: z.object({ x: z.number().default(1) }), register() {} })
    expect(refusal(() => createHost({ plugins: [world(), vague] }))).toMatch(/MR_HOST_PLUGIN_INVALID.*x has no description/)
  })
  it('binding what was not declared is refused, and declaring what is not bound too', () => {
    const sneaky = definePlugin({ name: 'sneaky', contract: 1, summary: 'of a test', config: noSettings, register({ provide }) { provide([Store], [], () => ({ read: () => '' })) } })
    const lazy = definePlugin({ name: 'lazy', contract: 1, summary: 'of a test', config: noSettings, provides: [Store], register() {} })
    expect(code(() => createHost({ plugins: [world(), sneaky] }))).toBe('MR_HOST_PLUGIN_INVALID')
    expect(code(() => createHost({ plugins: [world(), lazy] }))).toBe('MR_HOST_PLUGIN_INVALID')
  })
  it('a circle is refused with its members', () => {
    const left = definePlugin({ name: 'left', contract: 1, summary: 'of a test', config: noSettings, provides: [Store], requires: [Cache], register({ provide }) { provide([Store], [Cache], () => ({ read: () => '' })) } })
    const right = definePlugin({ name: 'right', contract: 1, summary: 'of a test', config: noSettings, provides: [Cache], requires: [Store], register({ provide }) { provide([Cache], [Store], () => ({ hits: 0 })) } })
    expect(refusal(() => createHost({ plugins: [world(), left, right] }))).toMatch(/MR_HOST_CYCLE.*left.*right.*left/)
  })
})

describe('what plugins are given', () => {
  it('every contribution is given in the order of the plugins, and none is an empty list', () => {
    const route = (path: string): Plugin => definePlugin({ name: `route-${path}`, contract: 1, summary: 'of a test', config: noSettings, contributes: [Route], register({ provide }) { provide([Route], [], () => ({ path })) } })
    let seen: readonly Route[] | undefined
    const server = definePlugin({ name: 'server', contract: 1, summary: 'of a test', config: noSettings, provides: [Cache], requires: [every(Route)], register({ provide }) { provide([Cache], [every(Route)], (routes) => { seen = routes; return { hits: 0 } }) } })
    createHost({ plugins: [world(), server, route('b'), route('a')] })
    expect(seen?.map((each) => each.path)).toEqual(['b', 'a'])
    createHost({ plugins: [world(), server] })
    expect(seen).toEqual([])
  })
  it('a maybe that nobody offers is undefined', () => {
    let seen: Cache | undefined | 'unset' = 'unset'
    const user = definePlugin({ name: 'user', contract: 1, summary: 'of a test', config: noSettings, provides: [Store], requires: [maybe(Cache)], register({ provide }) { provide([Store], [maybe(Cache)], (cache) => { seen = cache; return { read: () => '' } }) } })
    createHost({ plugins: [world(), user] })
    expect(seen).toBeUndefined()
  })
  it('decorators stand around the port in their order, whatever the order of the plugins', () => {
    const around = (name: string, order: number): Plugin => definePlugin({ name, contract: 1, summary: 'of a test', config: noSettings, decorates: [{ port: Store, order }], register({ decorate }) { decorate(Store, [], (inner) => ({ read: () => `${name}(${inner.read()})` })) } })
    const host = createHost({ plugins: [world(), around('outer', 9), around('inner', 1), store()] })
    expect(host.get(Store).read()).toBe('outer(inner(plain))')
    expect(host.all(Store)).toHaveLength(1)
  })
})

describe('start and stop', () => {
  it('starts in the order of needs and stops in reverse', async () => {
    const log: string[] = []
    const host = createHost({ plugins: [world(), recorder('reader', log, { needs: Store }), recorder('disk', log, { offers: Store })] })
    await host.start()
    expect(await host.stop()).toEqual([])
    expect(log).toEqual(['start disk', 'start reader', 'stop reader', 'stop disk'])
  })
  it('a failed start stops what had been started and names the plugin', async () => {
    const log: string[] = []
    const host = createHost({ plugins: [world(), recorder('disk', log, { offers: Store }), recorder('reader', log, { needs: Store, fails: true })] })
    await expect(host.start()).rejects.toThrow(/plugin reader could not start: no disk/)
    expect(log).toEqual(['start disk', 'start reader', 'stop reader', 'stop disk'])
  })
  it('a plugin that hangs does not keep the others from stopping', async () => {
    const log: string[] = []
    const host = createHost({ plugins: [world('at once'), recorder('disk', log, { offers: Store }), recorder('reader', log, { needs: Store, hangs: true })], stopDeadlineMs: 5 })
    await host.start()
    const problems = await host.stop()
    expect(problems.map((problem) => problem.code)).toContain('MR_HOST_STOP_TIMEOUT')
    expect(problems[0]?.message).toMatch(/reader/)
    expect(log.at(-1)).toBe('stop disk')
  })
  it('a plugin that fails to stop is named as such, and the others stop', async () => {
    const log: string[] = []
    const failing = definePlugin({
      name: 'reader', contract: 1, summary: 'fails when it stops', requires: [Store], contributes: [Lifecycle], config: noSettings,
      register({ provide }) {
        provide([Lifecycle], [Store], () => ({ start: () => Promise.resolve(), stop: () => Promise.reject(new Error('the disk is gone')) }))
      },
    })
    const host = createHost({ plugins: [world(), recorder('disk', log, { offers: Store }), failing] })
    await host.start()
    const [problem] = await host.stop()
    expect([problem!.code, problem!.message]).toEqual(['MR_HOST_STOP_FAILED', expect.stringMatching(/plugin reader did not stop in order: the disk is gone; /)])
    expect(log.at(-1)).toBe('stop disk')
  })
  it('a stop that comes during the start lets the start under way finish, stops it, and starts nothing else', async () => {
    const log: string[] = []
    let release = (): void => {}
    const slow = definePlugin({ name: 'slow', contract: 1, summary: 'of a test', config: noSettings, provides: [Store], register({ provide }) { provide([Store, Lifecycle], [], () => ({ read: () => '', start: () => new Promise<void>((resolve) => { release = () => { log.push('started slow'); resolve() } }), stop: async () => { log.push('stop slow') } })) } })
    const host = createHost({ plugins: [world(), slow, recorder('reader', log, { needs: Store })] })
    const refused = expect(host.start()).rejects.toThrow(/stopped while it started/)
    const stopped = host.stop()
    release()
    expect(await stopped).toEqual([])
    await refused
    expect(log).toEqual(['started slow', 'stop slow'])
  })
  it('a start that never ends does not keep a stop from ending', async () => {
    const log: string[] = []
    const hanging = definePlugin({ name: 'hanging', contract: 1, summary: 'of a test', config: noSettings, provides: [Store], register({ provide }) { provide([Store, Lifecycle], [], () => ({ read: () => '', start: () => new Promise<void>(() => {}), stop: async () => { log.push('stop hanging') } })) } })
    const host = createHost({ plugins: [world('at once'), hanging], stopDeadlineMs: 5 })
    void host.start()
    await host.stop()
    expect(log).toEqual(['stop hanging'])
  })
})

describe('a plugin that fails while a composition is made', () => {
  const failing = (where: 'register' | 'create', error: unknown): Plugin => definePlugin({
    name: 'failing', contract: 1, summary: 'fails', provides: [Cache], config: noSettings,
    register({ provide }) {
      if (where === 'register') throw error
      provide([Cache], [], () => { throw error })
    },
  })

  it.each([['register', 'its register'], ['create', 'what it binds']] as const)('in %s is named, with what it says', (where, what) => {
    const cause = new TypeError('x is not a function')
    expect(() => createHost({ plugins: [world(), failing(where, cause)] })).toThrow(expect.objectContaining({
      code: 'MR_HOST_PLUGIN_INVALID', message: `plugin failing is not usable: ${what} failed: x is not a function; correct that plugin, or take it out`, cause,
    }))
  })

  it('with an error of the table, or a broken invariant, is told as it is', () => {
    const known = new MillraceError('MR_CONFIG_UNKNOWN', { key: 'a' })
    expect(() => createHost({ plugins: [world(), failing('create', known)] })).toThrow(known)
    expect(() => createHost({ plugins: [world(), failing('create', new AssertionError('invariant broken: x'))] })).toThrow(AssertionError)
  })
})

describe('an object that lacks a method of its port', () => {
  const ports = (Object.values(kernel) as unknown[]).filter((each): each is AnyToken => typeof each === 'symbol' && methodsOf(each as AnyToken).length > 0)
  const multiBound = new Set<AnyToken>([kernel.Lifecycle, kernel.AdminRoute, kernel.HealthCheck, kernel.ProtocolHandler, kernel.CoordinatorFinder])
  const lacking = (port: AnyToken, missing?: string): object => Object.fromEntries(methodsOf(port).filter((name) => name !== missing).map((name) => [name, () => undefined]))

  const provider = (port: AnyToken, object: unknown): Plugin => definePlugin({
    name: 'provider', contract: 1, summary: 'provides', config: noSettings, ...(multiBound.has(port) ? { contributes: [port] } : { provides: [port] }),
    register({ provide }) { provide([port], [], () => object as never) },
  })
  // It asks for the port before anybody starts, as plugins do that keep an instrument.
  const caller = (port: AnyToken, method: string): Plugin => definePlugin({
    name: 'caller', contract: 1, summary: 'calls', config: noSettings, requires: [every(port)], provides: [Cache],
    register({ provide }) { provide([Cache], [every(port)], (all) => { for (const each of all) (each as Record<string, () => void>)[method]!(); return { hits: 0 } }) },
  })

  it('the ports are found', () => {
    expect(ports.length).toBeGreaterThan(25)
    expect(methodsOf(kernel.Metrics)).toEqual(['counter', 'histogram', 'forget', 'gauge', 'counted'])
  })

  it('is refused in the name of who provides it, not of who calls it, for each method of each port', () => {
    for (const port of ports.filter((each) => each !== Clock && each !== Timers)) {
      for (const method of methodsOf(port)) {
        expect(refusal(() => createHost({ plugins: [world(), caller(port, method), provider(port, lacking(port, method))] })))
          .toBe(`MR_HOST_PLUGIN_INVALID: plugin provider is not usable: what it gives as ${tokenName(port)} lacks the method ${method} of that port; add it, or install a release of the plugin that has it`)
      }
    }
  })

  it('is refused where it is nothing at all, with all methods', () => {
    expect(refusal(() => createHost({ plugins: [world(), provider(kernel.LogStore, undefined)] }))).toContain(`lacks the methods ${methodsOf(kernel.LogStore).join(', ')} of that port; add them`)
  })

  it('is refused behind a decorator, and as a decorator', () => {
    const around = (missing?: string): Plugin => definePlugin({
      name: 'around', contract: 1, summary: 'decorates', config: noSettings, decorates: [{ port: kernel.Network, order: 1 }],
      register({ decorate }) { decorate(kernel.Network, [], () => lacking(kernel.Network, missing) as kernel.Network) },
    })
    expect(refusal(() => createHost({ plugins: [world(), around(), provider(kernel.Network, lacking(kernel.Network, 'connect'))] }))).toContain('plugin provider is not usable: what it gives as Network lacks the method connect')
    expect(refusal(() => createHost({ plugins: [world(), around('listen'), provider(kernel.Network, lacking(kernel.Network))] }))).toContain('plugin around is not usable: what it gives as Network lacks the method listen')
  })

  it('is accepted with all of its methods, of a class or a proxy too', () => {
    class Net { listen(): void {} connect(): void {} }
    for (const object of [new Net(), new Proxy(new Net(), {})]) createHost({ plugins: [world(), provider(kernel.Network, object)] })
  })
})
