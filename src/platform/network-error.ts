import { MillraceError } from '../kernel/errors/index.ts'
import { type Endpoint } from '../kernel/ports/network.ts'
import { errnoOf } from './file-error.ts'

/** Why a listener could not be had. */
export function listenError(error: unknown, at: Endpoint): MillraceError {
  const code = errnoOf(error) === 'EADDRINUSE' ? 'MR_NET_ADDRESS_IN_USE' : 'MR_NET_LISTEN'
  return new MillraceError(code, { host: at.host, port: at.port, reason: reasonOf(error) }, error)
}

export function connectError(error: unknown, to: Endpoint): MillraceError {
  return new MillraceError('MR_NET_CONNECT', { host: to.host, port: to.port, reason: reasonOf(error) }, error)
}

export function closedError(error: unknown, remote: Endpoint): MillraceError {
  return new MillraceError('MR_NET_CLOSED', { host: remote.host, port: remote.port, reason: reasonOf(error) }, error)
}

/** The code of the system where there is one, such as ECONNREFUSED: it is what operators search for. */
function reasonOf(error: unknown): string {
  return errnoOf(error) ?? (error instanceof Error ? error.message : String(error))
}
