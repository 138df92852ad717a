import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type Endpoint } from '../../../kernel/ports/network.ts'
import { type Logger } from '../../../kernel/ports/telemetry.ts'
import { foreignClient, foreignProtocol } from '../core/foreign-protocol.ts'

/** Who is closed, and what for. */
export interface Closing {
  readonly remote: Endpoint
  readonly listener: string
  /** A whole frame has come: the peer speaks the protocol. */
  readonly hasSpoken: boolean
  /** Name of the API whose request failed. */
  readonly api: string | undefined
  readonly error: unknown
}

/** One line for a connection that is closed for an error: who sent what. */
export function logClosing(logger: Logger, { remote, listener, hasSpoken, api, error }: Closing): void {
  const peer = `${remote.host}:${remote.port}`
  const fields = { peer, listener, api, error }
  const foreign = !hasSpoken && isMillraceError(error, 'MR_PROTOCOL_FRAME_SIZE') ? foreignProtocol(Number(error.details['size'])) : undefined
  // Nothing is wrong here, and no stack says more.
  if (foreign !== undefined) logger.info(`closing a connection: ${foreignClient(foreign, listener)}`, { peer })
  else if (isMillraceError(error)) logger.info(`closing a connection: ${error.message}`, fields)
  else logger.error('closing a connection for an unexpected error', fields)
}
