import { connect } from 'node:net'
import { readFileSync } from 'node:fs'
import { BytesReader } from '../../src/base/bytes-reader.ts'
import { BytesWriter } from '../../src/base/bytes-writer.ts'
import { codecFor, readCorrelationId, readResponseHeaderRest, writeRequestFrame, type Api, type RequestDraftOf, type ResponseOf } from '../../src/wire/index.ts'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any API
type AnyApi = Api<any, any>

export interface Ended {
  /** Everything that came until the connection was closed. */
  readonly received: Buffer
  readonly reset: boolean
}

/**
 * Connects, sends these bytes, says that no more will come, and waits until the other side has closed too. Rejects when it has not after
 * `withinMs`.
 */
export function sendAndLeave(port: number, bytes: Uint8Array | readonly Uint8Array[], withinMs = 20_000): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const stream = connect({ host: '127.0.0.1', port })
    const received: Buffer[] = []
    let reset = false
    const late = setTimeout(() => { stream.destroy(new Error(`the broker keeps the connection after ${withinMs} ms`)) }, withinMs)
    stream.on('data', (part: Buffer) => { received.push(part) })
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') reset = true
      else reject(error)
    })
    stream.on('close', () => {
      clearTimeout(late)
      resolve({ received: Buffer.concat(received), reset })
    })
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) stream.write(part)
    stream.end()
  })
}

/** Connects, sends one request, and gives the frame that answers it, without its size. Rejects when the connection is closed before. */
export function askOnce(port: number, bytes: Uint8Array, withinMs = 60_000): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = connect({ host: '127.0.0.1', port })
    let received = Buffer.alloc(0)
    const late = setTimeout(() => { stream.destroy(new Error(`no answer within ${withinMs} ms`)) }, withinMs)
    stream.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part])
      if (received.length < 4 || received.length < 4 + received.readInt32BE()) return
      resolve(received.subarray(4))
      stream.destroy()
    })
    stream.on('error', reject)
    stream.on('close', () => {
      clearTimeout(late)
      reject(new Error('the connection was closed before there was an answer'))
    })
    stream.write(bytes)
  })
}

/** Asks as `askOnce` does, once and without the retries of a client, and reads the answer. */
export async function callOnce<A extends AnyApi>(port: number, api: A, version: number, request: RequestDraftOf<A>): Promise<ResponseOf<A>> {
  const writer = new BytesWriter()
  writeRequestFrame(writer, api, { version, correlationId: 7, clientId: 'peer' }, request as never)
  const reader = new BytesReader(await askOnce(port, writer.finish()))
  readCorrelationId(reader)
  readResponseHeaderRest(reader, api.key, version)
  return codecFor(api.response, version).read(reader) as ResponseOf<A>
}

export interface ProcessMemory {
  readonly residentMiB: number
  readonly peakMiB: number
}

/** What the system says of a process; undefined where it does not tell in /proc. */
export function memoryOf(pid: number): ProcessMemory | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const mebibytes = (name: string): number => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)![1]) / 1024)
    return { residentMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM') }
  } catch {
    return undefined
  }
}

/** The lines of a broker's log, which are JSON, each; throws for one that is not, as a stack would be. What the command says for itself is left out. */
export function logLines(log: string): { readonly level: string, readonly msg: string }[] {
  return log.split('\n').filter(line => line !== '' && !line.startsWith('millrace: ')).map(line => {
    try {
      return JSON.parse(line) as { level: string, msg: string }
    } catch (error) {
      throw new Error(`a line of the log is no JSON: ${line}`, { cause: error })
    }
  })
}
