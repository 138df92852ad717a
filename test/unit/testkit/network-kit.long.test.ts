import { describe, expect, test } from 'vitest'
import { type Network, type Socket, type SocketHandler } from '../../../src/kernel/ports/network.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { networkConformance } from '../../../src/testkit/conformance/network.ts'
import { SimWorld } from '../../../src/testkit/world/sim-world.ts'

/** What a broken network changes of each socket. */
type Break = (real: Socket) => Partial<Socket>

const run = (breakSocket: Break, breakNetwork: (real: Network) => Partial<Network> = () => ({})) => failuresOf(declare => {
  networkConformance({
    test: declare,
    create: () => {
      const world = new SimWorld({ seed: 1 })
      const real = world.machine('here').process.network
      const wrap = (socket: Socket): Socket => new BrokenSocket(socket, breakSocket(socket))
      const replaced = breakNetwork(real)
      const network: Network = {
        listen: (at, accept) => (replaced.listen ?? real.listen.bind(real))(at, socket => accept(wrap(socket))),
        connect: async (to, options) => wrap(await (replaced.connect ?? real.connect.bind(real))(to, options)),
      }
      world.machine('far').start()
      world.machine('far').crash('power')
      return {
        network, host: '127.0.0.1', silent: { host: 'far', port: 1 },
        settle: promise => world.run(() => promise, { withinMs: 60_000 }),
      }
    },
  })
})

class BrokenSocket implements Socket {
  private readonly real: Socket
  private readonly replaced: Partial<Socket>

  constructor(real: Socket, replaced: Partial<Socket>) {
    this.real = real
    this.replaced = replaced
  }

  get local() {
    return this.replaced.local ?? this.real.local
  }

  get remote() {
    return this.replaced.remote ?? this.real.remote
  }

  get pendingBytes(): number {
    return this.replaced.pendingBytes ?? this.real.pendingBytes
  }

  open(handler: SocketHandler): void {
    if (this.replaced.open === undefined) this.real.open(handler)
    else this.replaced.open(handler)
  }

  write(pieces: readonly Uint8Array[], written?: () => void): boolean {
    return this.replaced.write === undefined ? this.real.write(pieces, written) : this.replaced.write(pieces, written)
  }

  pause(): void {
    if (this.replaced.pause === undefined) this.real.pause()
    else this.replaced.pause()
  }

  resume(): void {
    this.real.resume()
  }

  end(): void {
    if (this.replaced.end === undefined) this.real.end()
    else this.replaced.end()
  }

  destroy(): void {
    if (this.replaced.destroy === undefined) this.real.destroy()
    else this.replaced.destroy()
  }
}

/** A socket whose handler is told something else. */
const hearing = (change: (handler: SocketHandler) => Partial<SocketHandler>): Break => real => ({
  open: handler => real.open({
    data: (bytes, offset, length) => handler.data(bytes, offset, length),
    drained: () => handler.drained?.(),
    closed: error => handler.closed(error),
    ...change(handler),
  }),
})

describe('networkConformance', { timeout: 120_000 }, () => {
  test('an unbroken network passes', async () => {
    expect(await run(() => ({}))).toEqual([])
  })

  const cases: Readonly<Record<string, () => Promise<string[]>>> = {
    'received bytes ignore their offset': () => run(hearing(handler => ({ data: (bytes, _offset, length) => handler.data(bytes, 0, length) }))),
    'a piece of data is lost': () => run(hearing(handler => {
      let calls = 0
      return { data: (bytes, offset, length) => ++calls === 3 ? undefined : handler.data(bytes, offset, length) }
    })),
    'closed is told twice': () => run(hearing(handler => ({
      closed: error => {
        handler.closed(error)
        handler.closed(error)
      },
    }))),
    'an orderly end is told as an error': () => run(hearing(handler => ({ closed: () => handler.closed(new Error('gone')) }))),
    'data comes after closed': () => run(hearing(handler => ({
      closed: error => {
        handler.closed(error)
        handler.data(Uint8Array.of(1), 0, 1)
      },
    }))),
    'drained never comes': () => run(hearing(() => ({ drained: () => {} }))),
    'drained comes while the buffer is full': () => run(real => {
      let owner: SocketHandler | undefined
      return {
        open: handler => {
          owner = handler
          real.open(handler)
        },
        write: (pieces, written) => {
          const going = real.write(pieces, written)
          if (!going) owner!.drained?.()
          return going
        },
      }
    }),
    'written is never called': () => run(real => ({ write: pieces => real.write(pieces) })),
    'written is called twice': () => run(real => ({
      write: (pieces, written) => real.write(pieces, () => {
        written?.()
        written?.()
      }),
    })),
    'written is called at once': () => run(real => ({
      write: (pieces, written) => {
        const going = real.write(pieces)
        written?.()
        return going
      },
    })),
    'write never says that it is full': () => run(real => ({
      write: (pieces, written) => {
        real.write(pieces, written)
        return true
      },
    })),
    'pending bytes are not told': () => run(() => ({ pendingBytes: 0 })),
    'pause does nothing': () => run(() => ({ pause: () => {} })),
    'end cuts off what is pending': () => run(real => ({ end: () => real.destroy() })),
    'destroy does nothing': () => run(() => ({ destroy: () => {} })),
    'both ends tell the same address': () => run(real => ({ remote: real.local })),
    'a refused connection never ends': () => run(() => ({}), real => ({
      connect: (to, options) => real.connect(to, options).catch(() => new Promise<Socket>(() => {})),
    })),
    'errors have no code': () => run(() => ({}), real => ({
      connect: (to, options) => real.connect(to, options).catch(() => Promise.reject(new Error('refused'))),
    })),
    'a closed listener goes on': () => run(() => ({}), real => ({
      listen: async (at, accept) => {
        const listener = await real.listen(at, accept)
        return { endpoint: listener.endpoint, close: () => Promise.resolve() }
      },
    })),
  }
  for (const [defect, failing] of Object.entries(cases)) {
    test(`a network fails where ${defect}`, async () => {
      expect(await failing()).not.toEqual([])
    })
  }
})
