import { execFile } from 'node:child_process'
import { once } from 'node:events'
import * as net from 'node:net'
import { fileURLToPath } from 'node:url'
import * as tls from 'node:tls'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { NodeNetwork } from '../../../src/platform/node-network.ts'
import { Receiver, withOwnMemory } from '../../../src/platform/socket-receive.ts'
import { AcceptQueue, RecordedSocket } from '../../../src/testkit/conformance/recorded-socket.ts'
import { authority, serverCertificate, serverKey } from './fixtures/tls.ts'

const loopback = { host: '127.0.0.1', port: 0 }
const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

async function listening(network = new NodeNetwork()) {
  const accepted = new AcceptQueue()
  const listener = await network.listen(loopback, accepted.accept)
  cleanups.push(() => void listener.close())
  return { network, accepted, endpoint: listener.endpoint }
}

const codeOf = (error: unknown): string => isMillraceError(error) ? error.code : String(error)

describe('NodeNetwork and peers of other makes', () => {
  test.each(['shared', 'chunks'] as const)('a peer that has sent its last byte still gets what was pending (%s)', async receive => {
    const { accepted, endpoint } = await listening(new NodeNetwork({ receive }))
    const peer = net.connect({ ...endpoint, allowHalfOpen: true })
    cleanups.push(() => peer.destroy())
    const server = await accepted.next()
    const total = 8 << 20
    let read = 0
    server.onData = () => void server.socket.write([new Uint8Array(total)])
    peer.on('data', (chunk: Buffer) => {
      read += chunk.length
    })
    peer.end('request')
    await once(peer, 'end')
    expect(read).toBe(total)
    await server.gone()
    expect([server.closedCalls, server.closedWith]).toEqual([1, undefined])
  })

  test('a reset by the peer closes with the reason', async () => {
    const { accepted, endpoint } = await listening()
    const peer = net.connect(endpoint)
    const server = await accepted.next()
    peer.resetAndDestroy()
    await server.gone()
    expect(codeOf(server.closedWith)).toBe('MR_NET_CLOSED')
    expect(String(server.closedWith)).toContain('ECONNRESET')
  })

  test('end gives the peer all that was sent although it goes on talking', async () => {
    const { accepted, endpoint } = await listening()
    const peer = net.connect(endpoint)
    cleanups.push(() => peer.destroy())
    const server = await accepted.next()
    server.socket.pause()
    // Unread bytes at the server: closing now would reset the connection and destroy the answer in flight.
    peer.write(Buffer.alloc(3 << 20))
    server.socket.write([new Uint8Array(1 << 20).fill(7)])
    server.socket.end()
    let read = 0
    peer.on('data', (chunk: Buffer) => {
      read += chunk.length
    })
    await once(peer, 'end')
    expect(read).toBe(1 << 20)
  })

  test('a socket that is gone before it is opened tells so', async () => {
    const { network, accepted, endpoint } = await listening()
    const socket = await network.connect(endpoint, { timeoutMs: 5000 })
    await accepted.next()
    socket.destroy()
    const client = new RecordedSocket(socket)
    await client.gone()
    expect(client.closedCalls).toBe(1)
  })

  test('all writes of one turn arrive in one piece', async () => {
    const { network, accepted, endpoint } = await listening()
    const client = new RecordedSocket(await network.connect(endpoint, { timeoutMs: 5000 }))
    cleanups.push(() => client.socket.destroy())
    const server = await accepted.next()
    let written = 0
    for (let index = 0; index < 100; index++) client.socket.write([Uint8Array.of(index), Uint8Array.of(index)], () => written++)
    await server.bytesReceived(200)
    expect(server.dataCalls).toBe(1)
    expect([...server.received]).toEqual(Array.from({ length: 200 }, (_, index) => index >> 1))
    expect(written).toBe(100)
  })

  test('this Node lets accepted sockets read into shared memory', async () => {
    const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
    cleanups.push(() => server.close())
    await once(server, 'listening')
    const peer = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
    const [stream] = await once(server, 'connection') as [net.Socket]
    expect(withOwnMemory(stream, new Receiver())).toBeInstanceOf(net.Socket)
    expect(withOwnMemory(stream, new Receiver()), 'a stream without a handle of the expected kind is left as it is').toBe(undefined)
    peer.destroy()
  })
})

describe('NodeNetwork under failure', () => {
  test('errors of listening and connecting have their codes', async () => {
    const { network, endpoint } = await listening()
    await expect(network.listen(endpoint, () => {})).rejects.toMatchObject({ code: 'MR_NET_ADDRESS_IN_USE' })
    await expect(network.listen({ host: '203.0.113.1', port: 0 }, () => {})).rejects.toMatchObject({ code: 'MR_NET_LISTEN' })
    await expect(network.connect({ host: 'no-such-host.invalid', port: 1 }, { timeoutMs: 5000 }))
      .rejects.toMatchObject({ code: 'MR_NET_CONNECT' })
  })

  test('a listener survives running out of file descriptors', { timeout: 30_000 }, async () => {
    const script = fileURLToPath(new URL('fixtures/out-of-descriptors.ts', import.meta.url))
    const command = ['-c', `ulimit -n 60; exec "${process.execPath}" --import tsx "${script}"`]
    const { stdout } = await promisify(execFile)('sh', command, { timeout: 20_000 })
    expect(JSON.parse(stdout)).toMatchObject({ exhausted: true, servedAfterwards: true })
  })
})

describe('NodeNetwork and TLS', () => {
  async function tlsServer(options: tls.TlsOptions = {}): Promise<number> {
    const server = tls.createServer({ cert: serverCertificate, key: serverKey, ...options }, stream => {
      stream.on('error', () => {})
      stream.pipe(stream)
    })
    server.on('tlsClientError', () => {})
    server.listen(0, '127.0.0.1')
    cleanups.push(() => server.close())
    await once(server, 'listening')
    return (server.address() as net.AddressInfo).port
  }

  test('a server whose certificate the given authority signed is talked to, by address or by name', async () => {
    const port = await tlsServer()
    for (const serverName of [undefined, 'broker.test']) {
      const socket = await new NodeNetwork().connect({ host: '127.0.0.1', port }, {
        timeoutMs: 5000, tls: { ca: authority, ...(serverName === undefined ? {} : { serverName }) },
      })
      const client = new RecordedSocket(socket)
      const sent = new Uint8Array(300_000).fill(9)
      client.socket.write([sent])
      await client.bytesReceived(sent.length)
      expect(client.received.every(byte => byte === 9)).toBe(true)
      client.socket.end()
      await client.gone()
      expect(client.closedWith).toBe(undefined)
    }
  })

  test('an unknown authority and a wrong name are refused, unless nobody is to verify', async () => {
    const port = await tlsServer()
    const to = { host: '127.0.0.1', port }
    const network = new NodeNetwork()
    await expect(network.connect(to, { timeoutMs: 5000, tls: {} })).rejects.toMatchObject({ code: 'MR_NET_CONNECT' })
    await expect(network.connect(to, { timeoutMs: 5000, tls: { ca: authority, serverName: 'other.test' } }))
      .rejects.toMatchObject({ code: 'MR_NET_CONNECT' })
    const socket = await network.connect(to, { timeoutMs: 5000, tls: { verify: false } })
    socket.destroy()
  })

  test('a client proves who it is with its certificate', async () => {
    const port = await tlsServer({ ca: authority, requestCert: true, rejectUnauthorized: true })
    const to = { host: '127.0.0.1', port }
    const certificate = { cert: serverCertificate, key: serverKey }
    const client = new RecordedSocket(await new NodeNetwork().connect(to, { timeoutMs: 5000, tls: { ca: authority, ...certificate } }))
    client.socket.write([Uint8Array.of(1)])
    await client.bytesReceived(1)
    client.socket.destroy()
  })

  test('a place that never finishes the handshake is given up when its time has passed', async () => {
    const { network, endpoint } = await listening()
    await expect(network.connect(endpoint, { timeoutMs: 30, tls: { ca: authority } }))
      .rejects.toThrow(/timed out after 30 ms/)
  })
})
