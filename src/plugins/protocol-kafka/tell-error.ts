import { isMillraceError } from '../../kernel/errors/index.ts'
import { type Exchange } from '../../kernel/ports/protocol-handler.ts'
import { codeOf } from './core/error-code.ts'
import { type ProtocolMetrics } from './metrics.ts'

/** The code in the shape that this version of the API knows, and the words beside it. */
export interface ToldError {
  readonly code: number
  readonly message: string
}

/**
 * What a client is told where one of the things that it asked for failed, while others have their own answer. It is counted. An error that is not of our table is a fault of ours: `log` gets it,
 * and the client hears no more than that.
 */
export function tellError(error: unknown, { apiKey, apiVersion }: Exchange, metrics: ProtocolMetrics, log: () => void): ToldError {
  const code = codeOf(error, apiKey, apiVersion)
  metrics.error(apiKey, code)
  if (isMillraceError(error)) return { code, message: error.message }
  log()
  return { code, message: 'the broker failed; its log says why' }
}
