import { describe, expect, it } from 'vitest'
import { type AnyApi, type Channel } from '../../../../src/client/channel/channel.ts'
import { clientSettings } from '../../../../src/client/client-options.ts'
import { signCount, signs, type FromStandIn, type WatchedMember } from '../../../../src/client/group/stand-in-messages.ts'
import { StandInWatch } from '../../../../src/client/group/stand-in-watch.ts'
import { SimScheduler } from '../../../../src/testkit/world/sim-scheduler.ts'
import { SimClock, SimTimers } from '../../../../src/testkit/world/sim-timers.ts'
import { completeMessage } from '../../../../src/wire/index.ts'

/** A watch in simulated time, over a member whose loop turns or not, and a coordinator that answers well. */
function bench(given: Partial<WatchedMember> = {}) {
  const scheduler = new SimScheduler()
  const [clock, timers] = [new SimClock(scheduler), new SimTimers(scheduler, 'beside')]
  const sent: { api: string, atMs: number, request: Readonly<Record<string, unknown>> }[] = []
  const said: FromStandIn[] = []
  const places = new Int32Array(new SharedArrayBuffer(signCount * 4))
  let isClosed = false
  const channel: Channel = {
    isOpen: true, inFlight: 0,
    open: (opened) => { timers.soon(() => { opened() }) },
    version: (api: AnyApi) => api.versions.max,
    send: (api, _version, request, _options, done) => {
      sent.push({ api: api.name, atMs: clock.monotonicMs(), request: request as Record<string, unknown> })
      const answer = api.name === 'ConsumerGroupHeartbeat' ? { memberEpoch: 8, heartbeatIntervalMs: 1000 } : {}
      timers.soon(() => { done(undefined, completeMessage(api.response, answer as never) as never) })
    },
    close: () => { isClosed = true },
  }
  const member: WatchedMember = {
    id: 1, protocol: 'classic', groupId: 'g', memberId: 'm', generation: 7, instanceId: null, intervalMs: 1000, pollIntervalMsMax: 60_000,
    endpoint: { host: 'b', port: 1 }, client: clientSettings({ bootstrap: 'b:1' }), signs: places, ...given,
  }
  const watch = new StandInWatch({ clock, timers }, member, channel, (message) => { said.push(message) })
  /** Lets time pass in which the member's loop turns. */
  const turns = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) {
      Atomics.add(places, signs.alive, 1)
      await scheduler.runFor(500)
    }
  }
  return { scheduler, sent, said, places, watch, turns, closed: () => isClosed }
}

describe('who stands in for a member', () => {
  it('sends nothing while its loop turns, also when nobody polls: the member judges that itself', async () => {
    const { turns, sent, said, watch } = bench({ pollIntervalMsMax: 5000 })
    await turns(20_000)
    expect([sent, said]).toEqual([[], []])
    watch.close()
  })

  it('heartbeats as often as the member would while its loop does not turn, and ends when it does', async () => {
    const { scheduler, turns, sent, watch } = bench()
    await turns(5000)
    await scheduler.runFor(10_000)
    expect(sent.length).toBeGreaterThanOrEqual(7)
    expect(sent[0]!.atMs).toBeLessThan(7500)
    expect(sent.every(({ api, request }) => api === 'Heartbeat' && request['generationId'] === 7 && request['memberId'] === 'm')).toBe(true)
    const { length } = sent
    await turns(5000)
    expect(sent.length).toBeLessThanOrEqual(length + 1)
    watch.close()
  })

  it('says that the member has left when the application is stuck for longer than it may do without poll, and no more', async () => {
    const { scheduler, sent, said, closed } = bench({ pollIntervalMsMax: 5000 })
    await scheduler.runFor(20_000)
    expect(sent.at(-1)).toMatchObject({ api: 'LeaveGroup', request: { members: [{ memberId: 'm' }] } })
    expect(sent.at(-1)!.atMs).toBeLessThan(6500)
    expect([sent.filter(({ api }) => api === 'LeaveGroup').length, said, closed()]).toEqual([1, [{ type: 'expired', id: 1 }], true])
  })

  it('leaves a static member for its session to end, and says so to the member alone', async () => {
    const { scheduler, sent, said } = bench({ pollIntervalMsMax: 5000, instanceId: 'one' })
    await scheduler.runFor(20_000)
    expect([sent.every(({ api }) => api === 'Heartbeat'), said]).toEqual([true, [{ type: 'expired', id: 1 }]])
  })

  it('counts polls and time in poll, not from the start alone', async () => {
    const { scheduler, turns, places, said, watch } = bench({ pollIntervalMsMax: 5000 })
    Atomics.store(places, signs.isInPoll, 1)
    await turns(10_000)
    await scheduler.runFor(4000)
    expect(said).toEqual([])
    await scheduler.runFor(2000)
    expect(said).toEqual([{ type: 'expired', id: 1 }])
    watch.close()
  })

  it('goes on with the epoch that it is told in the consumer protocol, and tells the member; its messages are counted', async () => {
    const { scheduler, sent, said, places, watch } = bench({ protocol: 'consumer' })
    await scheduler.runFor(5000)
    expect(sent.map(({ request }) => request['memberEpoch']).slice(0, 2)).toEqual([7, 8])
    expect(said[0]).toMatchObject({ type: 'beaten', id: 1, response: { memberEpoch: 8 } })
    expect(Atomics.load(places, signs.messages)).toBe(said.length)
    watch.close()
  })
})
