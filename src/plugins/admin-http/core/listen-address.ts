import { MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { type Endpoint } from '../../../kernel/ports/network.ts'

/** `HOST:PORT` or `[IPv6]:PORT`. */
export function parseEndpoint(text: string): Endpoint {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535) {
    throw new MillraceError('MR_HOST_SETTING', { plugin: 'admin-http', key: 'listen', reason: `${text} is not HOST:PORT, nor off` })
  }
  return { host: (match[1] ?? match[2])!, port }
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
