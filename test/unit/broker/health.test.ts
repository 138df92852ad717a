import { expect, it } from 'vitest'
import { z } from 'zod'
import { type Broker, createBroker } from '../../../src/broker/index.ts'
import { definePlugin, type Plugin } from '../../../src/kernel/plugin/define-plugin.ts'
import { HealthCheck, Lifecycle, type Health } from '../../../src/kernel/ports/lifecycle.ts'

const contributing = (check: () => Health): Plugin => definePlugin({
  name: 'acme-health', contract: 1, summary: 'has a health of its own', contributes: [HealthCheck], config: z.object({}),
  register({ provide }) { provide([HealthCheck], [], () => ({ name: 'acme', check })) },
})

/** The last plugin: it starts when the HTTP is there, and stops before it goes. */
const living = (during: (when: 'start' | 'stop') => Promise<void>): Plugin => definePlugin({
  name: 'acme-life', contract: 1, summary: 'starts last and stops first', config: z.object({}),
  register({ provide }) { provide([Lifecycle], [], () => ({ start: () => during('start'), stop: () => during('stop') })) },
})

const serve = (plugin: Plugin): Promise<Broker> => createBroker({ preset: 'memory', http: '127.0.0.1:0', logLevel: 'silent', plugins: [plugin] })

async function ask(broker: Broker, path: string): Promise<[number, Record<string, unknown>]> {
  const { host, port } = broker.http!
  const answer = await fetch(`http://${host}:${port}${path}`)
  return [answer.status, await answer.json() as Record<string, unknown>]
}

const partOf = ([, body]: [number, Record<string, unknown>]): unknown => (body['parts'] as { name: string }[]).find(({ name }) => name === 'acme')

it('/healthz is 200 with a part that is degraded and 503 with one that failed, which /readyz names; both are 200 again when it is well', async () => {
  let health: Health = { state: 'ok', detail: '' }
  const broker = await serve(contributing(() => health))
  await broker.start()
  try {
    const both = async () => [await ask(broker, '/healthz'), await ask(broker, '/readyz')] as const
    const [well, ready] = await both()
    expect([well[0], well[1]['state'], partOf(well), ready]).toEqual([200, 'ok', { name: 'acme', ...health }, [200, { ready: true, failed: [] }]])

    health = { state: 'degraded', detail: 'one of two is gone; replace it' }
    const [degraded, stillReady] = await both()
    expect([degraded[0], degraded[1]['state'], partOf(degraded), stillReady[0]]).toEqual([200, 'degraded', { name: 'acme', ...health }, 200])

    health = { state: 'failed', detail: 'both are gone; replace them' }
    const [failed, unready] = await both()
    expect([failed[0], failed[1]['state'], partOf(failed), unready]).toEqual([503, 'failed', { name: 'acme', ...health }, [503, { ready: false, failed: ['acme'] }]])

    health = { state: 'ok', detail: '' }
    expect((await both()).map(([status]) => status)).toEqual([200, 200])
  } finally {
    await broker.stop()
  }
})

it('a check that throws is a part that failed, and the others are told all the same', async () => {
  const broker = await serve(contributing(() => { throw new Error('I forgot') }))
  await broker.start()
  try {
    const told = await ask(broker, '/healthz')
    expect([told[0], partOf(told)]).toEqual([503, { name: 'acme', state: 'failed', detail: 'its check failed: I forgot; the plugin that contributes it is at fault' }])
    expect((told[1]['parts'] as unknown[]).length).toBeGreaterThan(1)
    expect(await ask(broker, '/readyz')).toEqual([503, { ready: false, failed: ['acme'] }])
  } finally {
    await broker.stop()
  }
})

it('/readyz is 503 while the broker starts and while it stops, and 200 between; /healthz is 200 all the time', async () => {
  const seen: unknown[] = []
  const look = async (when: string): Promise<void> => { seen.push([when, (await ask(broker, '/readyz')), (await ask(broker, '/healthz'))[0]]) }
  const broker: Broker = await serve(living(look))
  await broker.start()
  await look('between')
  await broker.stop()
  const unready = [503, { ready: false, failed: [] }]
  expect(seen).toEqual([['start', unready, 200], ['between', [200, { ready: true, failed: [] }], 200], ['stop', unready, 200]])
})
