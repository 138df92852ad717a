import { MillraceError } from '../../kernel/errors/index.ts'
import { type RequestDraftOf, type ResponseOf } from '../../wire/index.ts'
import { onAbort } from '../abort-listeners.ts'
import { abortReason } from '../client-error.ts'
import { type AnyApi, type Channel } from './channel.ts'

export interface CallOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** The lowest version that carries what the request has to say; a broker that serves only lower ones cannot do it. */
  readonly oldest?: number
  readonly newest?: number
}

/**
 * One request and its answer, for work that need not be fast. Rejects with what `Channel` says, with MR_CLIENT_UNSUPPORTED when the broker does not
 * serve the API, and with the signal's reason. The bytes of the answer are the caller's.
 */
export function call<A extends AnyApi>(
  channel: Channel, api: A, build: (version: number) => RequestDraftOf<A>, options: CallOptions,
): Promise<ResponseOf<A>> {
  const { signal } = options
  return new Promise((resolve, reject: (error: Error) => void) => {
    if (signal?.aborted === true) {
      reject(abortReason(signal))
      return
    }
    const unlisten = onAbort(signal, () => { reject(abortReason(signal!)) })
    const settle = (error: unknown, response?: ResponseOf<A>): void => {
      unlisten()
      if (response === undefined) reject(error as Error)
      else resolve(response)
    }
    channel.open(error => {
      if (error !== undefined) settle(error)
      else sendNow(channel, api, build, options, settle)
    })
  })
}

function sendNow<A extends AnyApi>(
  channel: Channel, api: A, build: (version: number) => RequestDraftOf<A>, options: CallOptions,
  settle: (error: unknown, response?: ResponseOf<A>) => void,
): void {
  try {
    const version = channel.version(api, options.newest)
    if (version === undefined || version < (options.oldest ?? 0)) {
      throw new MillraceError('MR_CLIENT_UNSUPPORTED', { what: api.name, reason: 'the broker does not serve it in a version that this client needs' })
    }
    channel.send(api, version, build(version), { timeoutMs: options.timeoutMs, keepBytes: true }, settle)
  } catch (error) {
    settle(error)
  }
}
