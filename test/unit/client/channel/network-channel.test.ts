import { describe, expect, it } from 'vitest'
import { call } from '../../../../src/client/channel/call.ts'
import { NetworkChannel } from '../../../../src/client/channel/network-channel.ts'
import { clientSettings, type ConnectionSettings } from '../../../../src/client/client-options.ts'
import { listOffsetsApi, metadataApi, produceApi } from '../../../../src/wire/index.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'

function channelTo(world: TestWorld, settings: Partial<ConnectionSettings> = {}): NetworkChannel {
  return new NetworkChannel(world.world, clientSettings({ bootstrap: 'b1:9092', ...settings }), { host: 'b1', port: 9092 })
}

const open = (world: TestWorld, channel: NetworkChannel): Promise<unknown> =>
  world.complete(new Promise(resolve => { channel.open(resolve) }))

const ask = (channel: NetworkChannel, timeoutMs = 30_000): Promise<object> =>
  call(channel, metadataApi, () => ({ topics: [], allowAutoTopicCreation: false }), { timeoutMs })

async function closed(world: TestWorld, channel: NetworkChannel): Promise<void> {
  channel.close()
  await world.scheduler.runFor(10)
}

describe('a network channel', () => {
  it('asks for versions with the name of the software, and uses the newest that both know', async () => {
    const world = await testWorld()
    world.cluster.versions.set(2, { min: 1, max: 5 })
    const channel = channelTo(world, { clientId: 'me' })
    expect(await open(world, channel)).toBeUndefined()
    expect(world.cluster.calls[0]).toMatchObject({ version: 3, clientId: 'me', request: { clientSoftwareName: 'millrace' } })
    expect(channel.version(listOffsetsApi)).toBe(5)
    expect(channel.version(listOffsetsApi, 3)).toBe(3)
    expect(channel.version(produceApi)).toBe(13)
    world.cluster.versions.delete(0)
    await closed(world, channel)
  })

  it('has no version of what the broker does not serve, or only in versions that are no longer known', async () => {
    const world = await testWorld()
    world.cluster.versions.delete(0)
    world.cluster.versions.set(2, { min: 0, max: 0 })
    world.cluster.versions.set(3, { min: 99, max: 100 })
    const channel = channelTo(world)
    await open(world, channel)
    expect([channel.version(produceApi), channel.version(listOffsetsApi), channel.version(metadataApi)]).toEqual([undefined, undefined, undefined])
    await closed(world, channel)
  })

  it('quirk 1: goes back to v0 of ApiVersions where v3 is too new', async () => {
    const world = await testWorld()
    world.cluster.versions.set(18, { min: 0, max: 2 })
    const channel = channelTo(world)
    expect(await open(world, channel)).toBeUndefined()
    expect(world.cluster.calls.map(each => each.version)).toEqual([3, 0])
    expect(channel.version(listOffsetsApi)).toBe(9)
    await closed(world, channel)
  })

  it('matches answers that come in pieces with requests that were sent without waiting', async () => {
    const world = await testWorld({ seed: 5 })
    world.cluster.addTopic('t', Array.from({ length: 200 }, () => 1))
    const channel = channelTo(world)
    const answers = await world.complete(Promise.all(Array.from({ length: 50 }, (_, index) =>
      call(channel, metadataApi, () => ({ topics: index % 2 === 0 ? [{ name: 't' }] : [], allowAutoTopicCreation: false }), { timeoutMs: 1000 }))))
    expect(answers.map(answer => answer.topics.length)).toEqual(Array.from({ length: 50 }, (_, index) => index % 2 === 0 ? 1 : 0))
    expect(answers[0]!.topics[0]!.partitions).toHaveLength(200)
    await closed(world, channel)
  })

  it('fails what is under way when the connection is lost, and connects again when asked', async () => {
    const world = await testWorld()
    const channel = channelTo(world)
    await open(world, channel)
    world.cluster.script = () => 'close'
    const lost = await world.rejection(ask(channel)) as Error
    expect(lost).toMatchObject({ code: 'MR_CLIENT_DISCONNECTED', details: { api: 'Metadata' } })
    expect([lost.message, lost.message.split('the connection to').length]).toEqual([lost.message, 2])
    expect(channel.isOpen).toBe(false)
    world.cluster.script = undefined
    await world.complete(ask(channel))
    expect(world.cluster.nodes.get(1)!.accepted).toBe(2)
    await closed(world, channel)
  })

  it('ends the connection when one answer takes too long, and says which', async () => {
    const world = await testWorld()
    const channel = channelTo(world)
    await open(world, channel)
    world.cluster.script = () => 'swallow'
    const slow = ask(channel, 2000).catch((error: unknown) => error)
    const behind = ask(channel, 60_000).catch((error: unknown) => error)
    expect(await world.complete(slow, 2100)).toMatchObject({ code: 'MR_CLIENT_REQUEST_TIMEOUT', details: { api: 'Metadata', timeoutMs: 2000 } })
    expect(await world.complete(behind, 100)).toMatchObject({ code: 'MR_CLIENT_REQUEST_TIMEOUT' })
    await closed(world, channel)
  })

  it('waits longer and longer between attempts to connect', async () => {
    const world = await testWorld()
    const channel = new NetworkChannel(world.world, clientSettings({ bootstrap: 'b1:9092' }), { host: 'b1', port: 1 })
    const waits: number[] = []
    for (let attempt = 0; attempt < 8; attempt++) {
      const beforeMs = world.scheduler.nowMs
      expect(await open(world, channel)).toMatchObject({ code: 'MR_NET_CONNECT' })
      waits.push(world.scheduler.nowMs - beforeMs)
    }
    expect(waits[0]).toBeLessThan(5)
    expect(waits[1]).toBeGreaterThan(35)
    expect(waits[3]).toBeGreaterThan(waits[1]! * 2)
    expect(Math.max(...waits)).toBeLessThan(1010)
    await closed(world, channel)
  })

  it('joins those who ask while it opens into one connection', async () => {
    const world = await testWorld()
    const channel = channelTo(world)
    await world.complete(Promise.all(Array.from({ length: 5 }, () => ask(channel))))
    expect(world.cluster.nodes.get(1)!.accepted).toBe(1)
    await closed(world, channel)
  })

  it.each([
    ['a length below zero', [0xff, 0xff, 0xff, 0xff]],
    ['a length above the limit', [0x7f, 0, 0, 0]],
    ['an answer that nobody asked for', [0, 0, 0, 4, 0, 0, 0, 99]],
    ['a frame without a correlation id', [0, 0, 0, 2, 0, 0]],
  ])('gives up a connection that brings %s', async (_name, bytes) => {
    const world = await testWorld()
    const channel = channelTo(world)
    await open(world, channel)
    world.cluster.script = each => {
      each.connection.sendRaw(new Uint8Array(bytes))
      return 'swallow'
    }
    const error = await world.rejection(ask(channel), 1000)
    expect((error as { code: string }).code).toMatch(/^MR_PROTOCOL_/)
    expect(channel.isOpen).toBe(false)
    await closed(world, channel)
  })

  it('gives up a connection whose answer cannot be read, and fails that request', async () => {
    const world = await testWorld()
    const channel = channelTo(world)
    await open(world, channel)
    world.cluster.script = each => {
      // The right correlation id, then an array that promises more than there is.
      each.connection.sendRaw(new Uint8Array([0, 0, 0, 14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 127, 1, 1, 1, 1]))
      return 'swallow'
    }
    expect(await world.rejection(ask(channel), 1000)).toMatchObject({ code: 'MR_PROTOCOL_MALFORMED' })
    await closed(world, channel)
  })

  it('fails to open, and stays closed, once it is shut', async () => {
    const world = await testWorld()
    const channel = channelTo(world)
    const waiting = new Promise(resolve => { channel.open(resolve) })
    channel.close()
    expect(await world.complete(waiting)).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    expect(await open(world, channel)).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    await world.scheduler.runFor(100)
    expect(world.network.openConnections).toBe(0)
  })

  it('does not wait for a call that was aborted', async () => {
    const world = await testWorld()
    const channel = channelTo(world)
    await open(world, channel)
    world.cluster.script = () => 'swallow'
    const abort = new AbortController()
    const asked = call(channel, metadataApi, () => ({ topics: [], allowAutoTopicCreation: false }), { timeoutMs: 60_000, signal: abort.signal })
    const rejected = world.rejection(asked, 100)
    abort.abort(new Error('enough'))
    expect(await rejected).toMatchObject({ message: 'enough' })
    await closed(world, channel)
  })
})
