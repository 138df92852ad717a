import { MillraceError } from '../kernel/errors/index.ts'
import { type Endpoint } from '../kernel/ports/network.ts'
import { errnoOf } from './file-error.ts'

const noSuchHost = 'there is no host of that name; name an address of this machine'
const remedies: Readonly<Record<string, string>> = {
  EACCES: 'this user may not take that port (EACCES); take one from 1024 on, or give the process the right to lower ones (CAP_NET_BIND_SERVICE)',
  EADDRNOTAVAIL: 'this machine has no such address (EADDRNOTAVAIL); listen on one of its own, or on all (0.0.0.0), and say with --advertise what clients are told',
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
}

/** Why a listener could not be had. */
export function listenError(error: unknown, at: Endpoint): MillraceError {
  const errno = errnoOf(error)
  const details = { host: at.host, port: at.port, reason: reasonOf(error) }
  if (errno === 'EADDRINUSE') return new MillraceError('MR_NET_ADDRESS_IN_USE', details, error)
  const said = errno === undefined ? undefined : remedies[errno]
  return new MillraceError('MR_NET_LISTEN', details, error, said === undefined ? undefined : `cannot listen on ${at.host}:${at.port}: ${said}`)
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
