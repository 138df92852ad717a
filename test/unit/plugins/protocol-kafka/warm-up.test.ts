import { describe, expect, it } from 'vitest'
import { apiVersionsApi } from '../../../../src/wire/messages/index.ts'
import { TestBroker, turn } from './fixture/test-broker.ts'

async function untilWarm(broker: TestBroker): Promise<unknown> {
  for (let slice = 0; slice < 200; slice++) {
    broker.timers.advance(2)
    await turn(1)
    const line = broker.logger.lines.find(({ message }) => message === 'warmed up')
    if (line !== undefined) return line.fields['requests']
  }
  throw new Error('it does not end')
}

describe('the warm-up', () => {
  it('runs some thousands of requests in slices after the start, ends, and leaves nothing behind', async () => {
    const broker = await TestBroker.start({ config: { warmup: true } })
    expect(await untilWarm(broker)).toBeGreaterThanOrEqual(20_000)
    expect(broker.tools.deadlines.size).toBe(0)
    expect(broker.tools.metrics.waitingProduces).toBe(0)
    expect(broker.logger.atLeast('warn')).toEqual([])
  }, 30_000)

  it('counts as nothing that a client did', async () => {
    const broker = await TestBroker.start({ config: { warmup: true } })
    broker.timers.advance(2)
    await turn()
    expect(broker.metrics.count('millrace_protocol_warm_up_total')).toBeGreaterThan(0)
    for (const name of ['Produce', 'Fetch']) expect(broker.metrics.count('millrace_protocol_requests_total', { api: name })).toBe(0)
    expect(broker.metrics.count('millrace_protocol_received_bytes_total')).toBe(0)
    expect(broker.metrics.value('millrace_protocol_connections')).toBe(0)
    expect(broker.cluster.topics.size).toBe(0)
  })

  it('does not keep a client that comes meanwhile from being served, and ends with the broker', async () => {
    const broker = await TestBroker.start({ config: { warmup: true } })
    broker.timers.advance(2)
    expect((await broker.connect().call(apiVersionsApi, 0, {})).errorCode).toBe(0)
    await broker.server.stop()
    expect(broker.timers.pending).toBe(0)
    const counted = broker.metrics.count('millrace_protocol_warm_up_total')
    broker.timers.advance(100)
    await turn()
    expect(broker.metrics.count('millrace_protocol_warm_up_total')).toBe(counted)
  })

  it('does not happen unless it is asked for', async () => {
    const broker = await TestBroker.start()
    broker.timers.advance(100)
    expect(broker.metrics.count('millrace_protocol_warm_up_total')).toBe(0)
  })
})
