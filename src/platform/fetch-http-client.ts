import { MillraceError } from '../kernel/errors/index.ts'
import { type HttpAnswer, type HttpAskOptions, type HttpCall, type HttpClient } from '../kernel/ports/http.ts'

/** HTTP by the `fetch` of Node. Certificates are checked against Node's own authorities, and those of NODE_EXTRA_CA_CERTS. */
export class FetchHttpClient implements HttpClient {
  async ask({ method, url, headers, body }: HttpCall, { signal, bodyBytesMax }: HttpAskOptions): Promise<HttpAnswer> {
    const { host } = new URL(url)
    try {
      const response = await fetch(url, { method, headers, signal, redirect: 'manual', ...(body === undefined ? {} : { body }) })
      return { status: response.status, body: await bodyOf(response, host, bodyBytesMax) }
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (error instanceof MillraceError) throw error
      throw new MillraceError('MR_NET_HTTP', { host, reason: reasonFor(error) }, error)
    }
  }
}

async function bodyOf(response: Response, host: string, bodyBytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early cancels what is still to come.
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length
    if (bytes > bodyBytesMax) throw new MillraceError('MR_NET_HTTP', { host, reason: `the answer has more than ${bodyBytesMax} bytes` })
    chunks.push(chunk as Uint8Array)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}

/** fetch says "fetch failed" and has the reason in the cause, which of several addresses is a list. */
function reasonFor(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  return cause.message === '' ? code ?? 'the connection failed' : cause.message
}
