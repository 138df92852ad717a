import { describe, expect, test } from 'vitest'
import { type Network } from '../../../../src/kernel/ports/network.ts'
import { AcceptQueue, connectPair, type RecordedPair } from '../../../../src/testkit/conformance/recorded-socket.ts'
import { type MemoryNetworkOptions } from '../../../../src/testkit/world/memory-network.ts'
import { SimWorld } from '../../../../src/testkit/world/sim-world.ts'

interface Scene {
  readonly world: SimWorld
  readonly client: Network
  readonly pair: () => Promise<RecordedPair>
}

async function scene(body: (scene: Scene) => Promise<void>, network: Partial<MemoryNetworkOptions> = {}, seed = 1): Promise<void> {
  const world = new SimWorld({ seed, network: { giveUpMs: 1000, ...network } })
  const accepted = new AcceptQueue()
  await world.run(async () => {
    await world.machine('server').process.network.listen({ host: '0.0.0.0', port: 9092 }, accepted.accept)
    const client = world.machine('client').process.network
    await body({ world, client, pair: () => connectPair(client, accepted, { host: 'server', port: 9092 }) })
  })
}

describe('MemoryNetwork', () => {
  test('bytes come after the delay, and those sent later never overtake', () => scene(async ({ world, pair }) => {
    const { client, server } = await pair()
    const sentAtMs = world.nowMs
    for (let index = 0; index < 100; index++) {
      client.socket.write([Uint8Array.of(index)])
      await world.sleep(0.3)
    }
    await server.bytesReceived(100)
    expect([...server.received]).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(world.nowMs - sentAtMs).toBeGreaterThanOrEqual(30)
  }, { latencyMs: (() => {
    let turn = 0
    return () => turn++ % 5 === 0 ? 5 : 0.1
  })() }))

  test('messages arrive in pieces of many sizes', () => scene(async ({ pair }) => {
    const { client, server } = await pair()
    const sizes = new Set<number>()
    let before = 0
    server.onData = () => {
      sizes.add(server.received.length - before)
      before = server.received.length
    }
    for (let round = 0; round < 50; round++) {
      client.socket.write([new Uint8Array(100)])
      await server.bytesReceived((round + 1) * 100)
    }
    expect(sizes.size).toBeGreaterThan(10)
    expect(sizes.has(100)).toBe(true)
  }))

  test('whoever keeps a view of received bytes finds them spoiled', () => scene(async ({ world, client }) => {
    let kept: Uint8Array | undefined
    await world.machine('server').process.network.listen({ host: '0.0.0.0', port: 1 }, socket => socket.open({
      data: (bytes, offset, length) => {
        kept = bytes.subarray(offset, offset + length)
        expect([...kept]).toEqual([1, 2])
      },
      closed: () => {},
    }))
    const socket = await client.connect({ host: 'server', port: 1 }, { timeoutMs: 10 })
    socket.open({ data: () => {}, closed: () => {} })
    socket.write([Uint8Array.of(1, 2)])
    await world.sleep(10)
    expect([...kept!]).toEqual([0xdb, 0xdb])
  }, { fragments: false }))

  test('pieces are read when there is room, not when they are written: they must not change before written', () => scene(async ({ pair }) => {
    const { client, server } = await pair()
    server.socket.pause()
    client.socket.write([new Uint8Array(300 * 1024)])
    const late = Uint8Array.of(1)
    client.socket.write([late])
    late[0] = 2
    server.socket.resume()
    await server.bytesReceived(300 * 1024 + 1)
    expect(server.received.at(-1)).toBe(2)
  }))

  test('a short cut delays, a long one breaks both ends of a connection that has something to send', () => scene(async ({ world, pair }) => {
    const { client, server } = await pair()
    const idle = await pair()
    world.network.cut('client', 'server')
    client.socket.write([Uint8Array.of(1)])
    await world.sleep(500)
    expect(server.received.length).toBe(0)
    world.network.heal('client', 'server')
    await server.bytesReceived(1)

    world.network.isolate('server')
    client.socket.write([Uint8Array.of(2)])
    await Promise.all([client.gone(), server.gone()])
    expect(String(client.closedWith)).toContain('ETIMEDOUT')
    expect(idle.client.closedCalls).toBe(0)
    world.network.heal()
    idle.client.socket.write([Uint8Array.of(3)])
    await idle.server.bytesReceived(1)
  }))

  test('a cut of one way lets the other pass', () => scene(async ({ world, pair }) => {
    const { client, server } = await pair()
    world.network.cutOneWay('client', 'server')
    server.socket.write([Uint8Array.of(1)])
    client.socket.write([Uint8Array.of(2)])
    await client.bytesReceived(1)
    await world.sleep(500)
    expect(server.received.length).toBe(0)
  }))

  test('nobody connects across a cut', () => scene(async ({ world, client }) => {
    world.network.cut('client', 'server')
    await expect(client.connect({ host: 'server', port: 9092 }, { timeoutMs: 100 })).rejects.toThrow('timed out after 100 ms')
    world.network.heal()
    await expect(client.connect({ host: 'server', port: 1 }, { timeoutMs: 100 })).rejects.toThrow('ECONNREFUSED')
    await expect(client.connect({ host: 'nowhere', port: 1 }, { timeoutMs: 100 })).rejects.toThrow('ENOTFOUND')
    await expect(client.connect({ host: 'server', port: 9092 }, { timeoutMs: 100, tls: {} })).rejects.toThrow('no TLS')
    await expect(client.listen({ host: 'server', port: 0 }, () => {})).rejects.toMatchObject({ code: 'MR_NET_LISTEN' })
  }))

  test('a reset breaks the connections it names, at both ends, with the reason', () => scene(async ({ world, pair }) => {
    const { client, server } = await pair()
    expect(world.network.reset('client', 'other')).toBe(0)
    expect(world.network.reset('server', 'client')).toBe(1)
    await Promise.all([client.gone(), server.gone()])
    for (const end of [client, server]) {
      expect([end.closedCalls, end.lateCalls]).toEqual([1, 0])
      expect(String(end.closedWith)).toContain('ECONNRESET')
    }
    expect(world.network.openConnections).toBe(0)
  }))

  test('writing to a peer that has closed breaks the connection', () => scene(async ({ world, pair }) => {
    const { client, server } = await pair()
    server.socket.pause()
    client.socket.write([new Uint8Array(400 * 1024)])
    await world.sleep(5)
    expect(client.socket.pendingBytes).toBe(144 * 1024)
    server.socket.destroy()
    await client.gone()
    expect(String(client.closedWith)).toContain('ECONNRESET')
  }))

  test('end is given up when the other side takes nothing', () => scene(async ({ world, pair }) => {
    const { client, server } = await pair()
    server.socket.pause()
    client.socket.write([new Uint8Array(1024 * 1024)])
    const startMs = world.nowMs
    client.socket.end()
    await client.gone()
    expect(world.nowMs - startMs).toBeGreaterThanOrEqual(5000)
    expect(client.closedWith).toBe(undefined)
  }))
})
