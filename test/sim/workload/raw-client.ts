import { type Prng } from '../../../src/base/prng.ts'
import { call } from '../../../src/client/channel/call.ts'
import { type AnyApi, type Channel } from '../../../src/client/channel/channel.ts'
import { NetworkChannel } from '../../../src/client/channel/network-channel.ts'
import { clientSettings } from '../../../src/client/client-options.ts'
import { type ClientWorld } from '../../../src/client/index.ts'
import { type RequestDraftOf, type ResponseOf } from '../../../src/wire/index.ts'

const usualTimeoutMs = 6000

/** One connection, over which requests go as they are given, in versions by chance. */
export class RawClient {
  private readonly world: ClientWorld
  private readonly prng: Prng
  private readonly timeoutMs: number
  private channel: Channel

  constructor(world: ClientWorld, prng: Prng, timeoutMs = usualTimeoutMs) {
    this.timeoutMs = timeoutMs
    this.world = world
    this.prng = prng
    this.channel = this.connect()
  }

  /** In a version from `oldest` to the newest that both sides know, by chance. */
  ask<A extends AnyApi>(api: A, oldest: number, newest: number, build: (version: number) => RequestDraftOf<A>): Promise<ResponseOf<A>> {
    return call(this.channel, api, build, { timeoutMs: this.timeoutMs, newest: this.prng.between(oldest, newest), oldest })
  }

  /** A produce without an answer; resolves when it is on its way. */
  tell<A extends AnyApi>(api: A, newest: number, build: (version: number) => RequestDraftOf<A>): Promise<void> {
    const { channel } = this
    return new Promise((resolve, reject: (error: Error) => void) => {
      const done = (error: unknown): void => {
        if (error === undefined) resolve()
        else reject(error as Error)
      }
      channel.open(error => {
        if (error !== undefined) return done(error)
        const version = channel.version(api, newest)!
        channel.send(api, version, build(version), { timeoutMs: this.timeoutMs, answered: false }, done)
      })
    })
  }

  reconnect(): void {
    this.channel.close()
    this.channel = this.connect()
  }

  close(): void {
    this.channel.close()
  }

  private connect(): Channel {
    const settings = clientSettings({ bootstrap: 'broker:9092', connectTimeoutMs: Math.min(2000, this.timeoutMs), requestTimeoutMs: this.timeoutMs, retryBackoffMs: 20, retryBackoffMsMax: 200 })
    return new NetworkChannel(this.world, settings, settings.bootstrap[0]!)
  }
}
