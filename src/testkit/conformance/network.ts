import { Prng } from '../../base/prng.ts'
import { type Endpoint, type Network } from '../../kernel/ports/network.ts'
import { check, checkEqual, checkRejects, type DeclareTest } from './kit.ts'
import { AcceptQueue, connectPair, type RecordedPair, type RecordedSocket } from './recorded-socket.ts'

/** A network, and where to listen in it. */
export interface NetworkSubject {
  readonly network: Network
  /** Where to listen, such as 127.0.0.1. */
  readonly host: string
  /** A place that never answers, where there is one. */
  readonly silent?: Endpoint
  /** Lets time pass until the promise is settled. Real networks need nothing. */
  readonly settle?: <T>(promise: Promise<T>) => Promise<T>
  readonly dispose?: () => void
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface NetworkConformance {
  readonly test: DeclareTest
  readonly create: () => NetworkSubject
}

interface Bench {
  readonly network: Network
  readonly endpoint: Endpoint
  readonly silent: Endpoint | undefined
  readonly pair: () => Promise<RecordedPair>
  /** Several round trips on a connection of their own: whatever was on its way has arrived since. */
  readonly meanwhile: () => Promise<void>
}

interface Claim {
  readonly title: string
  readonly body: (bench: Bench) => Promise<void>
}

const claim = (title: string, body: Claim['body']): Claim => ({ title, body })
const mebibyte = 1024 * 1024

const delivery: readonly Claim[] = [
  claim('bytes arrive whole and in order, both ways at once', async ({ pair }) => {
    const { client, server } = await pair()
    const random = new Prng(7)
    const there = random.bytes(2 * mebibyte)
    const back = random.bytes(mebibyte / 2)
    sendInPieces(client, there, random)
    sendInPieces(server, back, random)
    await Promise.all([server.bytesReceived(there.length), client.bytesReceived(back.length)])
    check(sameBytes(server.received, there), 'what the client sent is what the server got')
    check(sameBytes(client.received, back), 'what the server sent is what the client got')
    closeBoth({ client, server })
  }),
  claim('the bytes of one connection never show up on another', async ({ pair }) => {
    const pairs = await Promise.all(Array.from({ length: 20 }, () => pair()))
    const length = 70_000
    pairs.forEach(({ client, server }, index) => {
      client.socket.write([new Uint8Array(length).fill(index)])
      server.socket.write([new Uint8Array(length).fill(100 + index)])
    })
    await Promise.all(pairs.flatMap(({ client, server }) => [client.bytesReceived(length), server.bytesReceived(length)]))
    pairs.forEach((each) => {
      const clientSent = each.server.received[0]!
      const serverSent = each.client.received[0]!
      checkEqual(serverSent - clientSent, 100, 'the two ends of one connection')
      check(each.server.received.every(byte => byte === clientSent), 'bytes of one client only')
      check(each.client.received.every(byte => byte === serverSent), 'bytes of one server only')
      closeBoth(each)
    })
  }),
  claim('each end knows its own address and the other\'s', async ({ pair, endpoint }) => {
    const { client, server } = await pair()
    checkEqual(client.socket.remote.port, endpoint.port, 'the client is connected to the listener')
    checkEqual(server.socket.local.port, endpoint.port, 'the server is at the listener')
    checkEqual(server.socket.remote.port, client.socket.local.port, 'the server sees the client\'s port')
    checkEqual(server.socket.remote.host, client.socket.local.host, 'the server sees the client\'s host')
    closeBoth({ client, server })
  }),
  claim('written is called once for each write, in order, and then the pieces are the caller\'s again', async ({ pair }) => {
    const { client, server } = await pair()
    const sizes = [0, 1, 10, 200_000, 5, 700_000, 3, 0]
    const order: number[] = []
    sizes.forEach((size, index) => {
      const piece = new Uint8Array(size).fill(index + 1)
      client.socket.write(size === 0 && index > 0 ? [] : [piece], () => {
        order.push(index)
        piece.fill(255)
        client.wake()
      })
    })
    await server.bytesReceived(sizes.reduce((sum, size) => sum + size, 0))
    await client.until(() => order.length >= sizes.length)
    checkEqual(order, sizes.map((_, index) => index), 'order of the calls')
    check(!server.received.includes(255), 'pieces changed after `written` arrive as they were')
    closeBoth({ client, server })
  }),
]

const pressure: readonly Claim[] = [
  claim('a full outgoing buffer says so, and drained comes when it is empty', async ({ pair, meanwhile }) => {
    const { client, server } = await pair()
    server.socket.pause()
    const piece = new Uint8Array(256 * 1024).fill(3)
    const piecesMax = 128
    let sent = 0
    // The systems at both ends take some MiB before anybody has to wait.
    for (let drainedBefore = -1; drainedBefore !== client.drainedCalls && sent < piecesMax;) {
      drainedBefore = client.drainedCalls
      let accepted = true
      for (; accepted && sent < piecesMax; sent++) accepted = client.socket.write([piece])
      await meanwhile()
    }
    check(sent < piecesMax, 'write answers false, and nothing drains, within 32 MiB that nobody reads')
    check(client.socket.pendingBytes > 0, 'pending bytes are told')
    const drainedBefore = client.drainedCalls
    server.socket.resume()
    await client.until(() => client.drainedCalls > drainedBefore)
    checkEqual(client.socket.pendingBytes, 0, 'pending bytes when drained')
    await server.bytesReceived(sent * piece.length)
    checkEqual(server.received.length, sent * piece.length, 'every byte arrived')
    checkEqual(client.drainedCalls, drainedBefore + 1, 'drained is called once')
    closeBoth({ client, server })
  }),
  claim('a paused socket gives no data until it is resumed', async ({ pair, meanwhile }) => {
    const { client, server } = await pair()
    client.socket.write([Uint8Array.of(1)])
    await server.bytesReceived(1)
    server.socket.pause()
    client.socket.write([Uint8Array.of(2, 3)])
    await meanwhile()
    checkEqual(server.received.length, 1, 'bytes given while paused')
    server.socket.resume()
    await server.bytesReceived(3)
    checkEqual([...server.received], [1, 2, 3], 'bytes after it')
    closeBoth({ client, server })
  }),
  claim('a socket may be paused from within data', async ({ pair, meanwhile }) => {
    const { client, server } = await pair()
    server.onData = () => server.socket.pause()
    const total = 2 * mebibyte
    client.socket.write([new Uint8Array(total)])
    await server.bytesReceived(1)
    await meanwhile()
    checkEqual(server.dataCalls, 1, 'calls of data')
    server.onData = undefined
    server.socket.resume()
    await server.bytesReceived(total)
    checkEqual(server.received.length, total, 'all bytes')
    closeBoth({ client, server })
  }),
]

const closing: readonly Claim[] = [
  claim('end sends what is pending, and both ends close in order, once', async ({ pair, meanwhile }) => {
    const { client, server } = await pair()
    const total = 3 * mebibyte
    client.socket.write([new Uint8Array(total).fill(1)])
    client.socket.end()
    client.socket.end()
    await Promise.all([server.gone(), client.gone()])
    checkEqual(server.received.length, total, 'bytes before the end')
    await meanwhile()
    for (const end of [client, server]) checkClosedOnce(end, 'in order')
  }),
  claim('destroy closes both ends, once, and gives every piece back', async ({ pair, meanwhile }) => {
    const { client, server } = await pair()
    server.socket.pause()
    const writes = 40
    const written = new Array<number>(writes).fill(0)
    for (let index = 0; index < writes; index++) {
      client.socket.write([new Uint8Array(512 * 1024)], () => written[index]!++)
    }
    client.socket.destroy()
    client.socket.destroy()
    server.socket.resume()
    await Promise.all([server.gone(), client.gone()])
    await meanwhile()
    checkEqual(written, new Array<number>(writes).fill(1), 'calls of written')
    checkClosedOnce(client, 'in order')
    checkEqual(server.closedCalls, 1, 'calls of closed at the other end')
    checkEqual(server.lateCalls, 0, 'calls after closed at the other end')
    checkEqual(client.socket.pendingBytes, 0, 'pending bytes')
  }),
  claim('a write after the end is not sent, and its pieces are given back', async ({ pair, meanwhile }) => {
    const { client, server } = await pair()
    let written = 0
    client.socket.end()
    checkEqual(client.socket.write([Uint8Array.of(1)], () => written++), false, 'write after end')
    checkEqual(written, 0, 'written is not called within write')
    await client.gone()
    client.socket.write([Uint8Array.of(1)], () => written++)
    await meanwhile()
    checkEqual(written, 2, 'calls of written')
    checkEqual(server.received.length, 0, 'bytes sent')
  }),
  claim('a closed listener takes no connection, frees its port, and leaves those that it accepted', async bench => {
    const { network, endpoint } = bench
    const accepted = new AcceptQueue()
    const listener = await network.listen({ host: endpoint.host, port: 0 }, accepted.accept)
    check(listener.endpoint.port > 0, 'port 0 takes a free one')
    const pair = await connectPair(network, accepted, listener.endpoint)
    await checkRejects('MR_NET_ADDRESS_IN_USE', network.listen(listener.endpoint, () => {}), 'a second listener at the place')
    await listener.close()
    await checkRejects('MR_NET_CONNECT', network.connect(listener.endpoint, { timeoutMs: 5000 }), 'connecting where nobody listens')
    const again = await network.listen(listener.endpoint, () => {})
    pair.client.socket.write([Uint8Array.of(9)])
    await pair.server.bytesReceived(1)
    closeBoth(pair)
    await again.close()
  }),
  claim('connecting to a place that never answers fails when its time has passed', async ({ network, silent }) => {
    if (silent === undefined) return
    await checkRejects('MR_NET_CONNECT', network.connect(silent, { timeoutMs: 50 }), 'a silent place')
  }),
]

const talk: readonly Claim[] = [
  claim('many connections that talk, pause and break off by chance keep every promise', async ({ pair, meanwhile }) => {
    const random = new Prng(20)
    await Promise.all(Array.from({ length: 24 }, async (_, index) => {
      const { client, server } = await pair()
      const echoes = echo(server)
      await babble(client, random.fork(`client ${index}`))
      await Promise.all([client.gone(), server.gone()])
      await meanwhile()
      for (const end of [client, server]) {
        checkEqual(end.closedCalls, 1, 'calls of closed')
        checkEqual(end.lateCalls, 0, 'calls after closed')
      }
      checkEqual(echoes.written, echoes.writes, 'calls of written at the server')
      check(server.received.every((byte, at) => byte === byteAt(at)), 'the server got a prefix of what was sent')
      check(client.received.every((byte, at) => byte === byteAt(at)), 'the client got a prefix of what came back')
    }))
  }),
]

/** The byte at a position of every stream of `babble`. */
const byteAt = (position: number): number => (position * 31 + (position >> 8)) & 255

/** Sends back what comes, reading no more while its outgoing buffer is full. */
function echo(server: RecordedSocket): { writes: number, written: number } {
  const counts = { writes: 0, written: 0 }
  let returned = 0
  server.onData = () => {
    const piece = server.received.slice(returned)
    returned += piece.length
    counts.writes++
    if (!server.socket.write([piece], () => counts.written++)) server.socket.pause()
  }
  server.onDrained = () => server.socket.resume()
  return counts
}

/** Sends by chance, pauses by chance, and ends or breaks off; every `written` comes once. */
async function babble(client: RecordedSocket, random: Prng): Promise<void> {
  let sent = 0
  let written = 0
  const writes = random.between(5, 40)
  for (let index = 0; index < writes; index++) {
    const pieces = Array.from({ length: random.between(1, 4) }, () => {
      const piece = new Uint8Array(random.chance(0.1) ? random.below(100_000) : random.below(500))
      return piece.map(() => byteAt(sent++))
    })
    client.socket.write(pieces, () => {
      written++
      for (const piece of pieces) piece.fill(0)
      client.wake()
    })
    if (random.chance(0.2)) client.socket.pause()
    if (random.chance(0.4)) client.socket.resume()
    if (random.chance(0.3)) await client.until(() => written > 0)
  }
  if (random.chance(0.5)) client.socket.end()
  else client.socket.destroy()
  await client.gone()
  await client.until(() => written >= writes)
  checkEqual(written, writes, 'calls of written at the client')
}

/** What every Network must do. The claim about a silent place is empty for a subject that knows none. */
export function networkConformance({ test, create }: NetworkConformance): void {
  for (const { title, body } of [...delivery, ...pressure, ...closing, ...talk]) {
    test(title, async () => {
      const { network, host, silent, settle = <T>(promise: Promise<T>) => promise, dispose } = create()
      const run = async (): Promise<void> => {
        const accepted = new AcceptQueue()
        const listener = await network.listen({ host, port: 0 }, accepted.accept)
        const { endpoint } = listener
        const pair = (): Promise<RecordedPair> => connectPair(network, accepted, endpoint)
        await body({ network, endpoint, silent, pair, meanwhile: () => roundTrips(network, host) })
        await listener.close()
      }
      try {
        await settle(run())
      } finally {
        dispose?.()
      }
    })
  }
}

/** On a listener and connection of their own. */
async function roundTrips(network: Network, host: string): Promise<void> {
  const accepted = new AcceptQueue()
  const listener = await network.listen({ host, port: 0 }, accepted.accept)
  const pair = await connectPair(network, accepted, listener.endpoint)
  pair.server.onData = () => void pair.server.socket.write([Uint8Array.of(1)])
  for (let round = 1; round <= 10; round++) {
    pair.client.socket.write([Uint8Array.of(round)])
    await pair.client.bytesReceived(round)
  }
  closeBoth(pair)
  await listener.close()
}

function sendInPieces(from: RecordedSocket, bytes: Uint8Array, random: Prng): void {
  for (let at = 0; at < bytes.length;) {
    const pieces: Uint8Array[] = []
    for (let count = random.between(1, 5); count > 0; count--) {
      const length = random.chance(0.2) ? random.below(200_000) : random.below(900)
      pieces.push(bytes.subarray(at, at + length))
      at += length
    }
    from.socket.write(pieces)
  }
}

function checkClosedOnce(end: RecordedSocket, how: string): void {
  checkEqual(end.closedCalls, 1, 'calls of closed')
  checkEqual(end.lateCalls, 0, 'calls after closed')
  checkEqual(end.closedWith, undefined, `closed ${how}, so without an error`)
}

function closeBoth({ client, server }: RecordedPair): void {
  client.socket.destroy()
  server.socket.destroy()
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}
