import { type AnyApi } from '../../src/client/channel/channel.ts'
import { NetworkChannel } from '../../src/client/channel/network-channel.ts'
import { clientSettings } from '../../src/client/client-options.ts'
import { thisMachine } from '../../src/client/machine.ts'
import { type RequestDraftOf, type ResponseOf } from '../../src/wire/index.ts'

/** One connection of our own client, for requests as they are written on the wire. */
export class WireChannel {
  readonly #channel: NetworkChannel

  private constructor (channel: NetworkChannel) {
    this.#channel = channel
  }

  static async connect (bootstrap: string): Promise<WireChannel> {
    const settings = clientSettings({ bootstrap, clientId: 'bench', requestTimeoutMs: 60_000 })
    const channel = new NetworkChannel(thisMachine(), settings, settings.bootstrap[0]!)
    await new Promise<void>((resolve, reject) => {
      channel.open(error => {
        if (error === undefined) resolve()
        else reject(error as Error)
      })
    })
    return new WireChannel(channel)
  }

  /** Of a version that both sides know, the newest up to `newest`. Answers come in the order of the calls. */
  call<A extends AnyApi> (api: A, newest: number, request: RequestDraftOf<A>): Promise<ResponseOf<A>> {
    const version = this.#channel.version(api, newest)
    if (version === undefined) return Promise.reject(new Error(`the broker knows no version of ${api.name} up to ${newest}`))
    return new Promise((resolve, reject) => {
      this.#channel.send(api, version, request, { timeoutMs: 60_000, keepBytes: true }, (error, response) => {
        if (response === undefined) reject(error as Error)
        else resolve(response)
      })
    })
  }

  close (): void {
    this.#channel.close()
  }
}
