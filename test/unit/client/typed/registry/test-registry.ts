import * as http from 'node:http'
import { type AddressInfo } from 'node:net'
import { type HttpAnswer, type HttpAskOptions, type HttpCall, type HttpClient } from '../../../../../src/kernel/ports/http.ts'

interface Stored {
  readonly schema: string
  readonly schemaType: string
  readonly references: readonly unknown[]
}

type Answer = readonly [status: number, body: unknown]
const failure = (status: number, errorCode: number, message: string): Answer => [status, { error_code: errorCode, message }]

/** A schema registry as Confluent documents its HTTP API, in memory: answers without I/O, or over HTTP with `listen`. */
export class TestRegistry {
  /** By id, from 1. */
  readonly schemas: Stored[] = []
  /** Ids by subject, in the order of their versions. */
  readonly subjects = new Map<string, number[]>()
  /** Schemas that no subject takes. */
  readonly incompatible = new Set<string>()
  readonly asked: { readonly method: string, readonly path: string, readonly headers: Readonly<Record<string, string>>, readonly body: string }[] = []
  /** What every request must carry; none where undefined. */
  authorization: string | undefined

  /** The answer as HTTP has it. */
  handle(method: string, path: string, headers: Readonly<Record<string, string>>, body: string): { readonly status: number, readonly text: string } {
    this.asked.push({ method, path, headers, body })
    const [status, value] = this.authorization !== undefined && headers['authorization'] !== this.authorization ? failure(401, 401, `Unauthorized: ${headers['authorization'] ?? 'nothing'}`) : this.route(method, path, body)
    return { status, text: JSON.stringify(value) }
  }

  add(subject: string, schema: string, schemaType = 'AVRO', references: readonly unknown[] = []): number {
    let id = this.schemas.findIndex(each => each.schema === schema && each.schemaType === schemaType) + 1
    if (id === 0) id = this.schemas.push({ schema, schemaType, references })
    const versions = this.subjects.get(subject) ?? []
    if (!versions.includes(id)) versions.push(id)
    this.subjects.set(subject, versions)
    return id
  }

  private route(method: string, target: string, body: string): Answer {
    const [path = '', query = ''] = target.split('?')
    const parts = path.split('/').slice(1).map(decodeURIComponent)
    if (method === 'GET' && parts[0] === 'schemas' && parts[1] === 'ids') return this.byId(Number(parts[2]))
    if (parts[0] === 'compatibility' && method === 'POST') {
      const { schema } = JSON.parse(body) as Stored
      if (!this.subjects.has(parts[2]!)) return failure(404, 40401, `Subject '${parts[2]}' not found.`)
      const isCompatible = !this.incompatible.has(schema)
      return [200, { is_compatible: isCompatible, ...(query.includes('verbose=true') && !isCompatible ? { messages: ['a field has gone'] } : {}) }]
    }
    if (parts[0] !== 'subjects') return failure(404, 404, 'HTTP 404 Not Found')
    const subject = parts[1]!
    if (method === 'GET') return this.version(subject, parts[3]!)
    const { schema, schemaType = 'AVRO', references = [] } = JSON.parse(body) as Partial<Stored> & { schema: string }
    if (parts.length === 2) return this.find(subject, schema, schemaType)
    if (schema === '') return failure(422, 42201, 'Invalid schema')
    if (this.incompatible.has(schema)) return failure(409, 409, 'Schema being registered is incompatible with an earlier schema')
    return [200, { id: this.add(subject, schema, schemaType, references) }]
  }

  private byId(id: number): Answer {
    const found = this.schemas[id - 1]
    return found === undefined ? failure(404, 40403, `Schema ${id} not found`) : [200, bodyOf(found)]
  }

  private version(subject: string, version: string): Answer {
    const ids = this.subjects.get(subject)
    if (ids === undefined) return failure(404, 40401, `Subject '${subject}' not found.`)
    const number = version === 'latest' ? ids.length : Number(version)
    const id = ids[number - 1]
    return id === undefined ? failure(404, 40402, `Version ${version} not found.`) : [200, { subject, version: number, id, ...bodyOf(this.schemas[id - 1]!) }]
  }

  private find(subject: string, schema: string, schemaType: string): Answer {
    const ids = this.subjects.get(subject)
    if (ids === undefined) return failure(404, 40401, `Subject '${subject}' not found.`)
    const at = ids.findIndex(id => this.schemas[id - 1]!.schema === schema && this.schemas[id - 1]!.schemaType === schemaType)
    return at < 0 ? failure(404, 40403, 'Schema not found') : [200, { subject, id: ids[at], version: at + 1, schema }]
  }
}

/** As a registry leaves out what is not there. */
function bodyOf({ schema, schemaType, references }: Stored): object {
  return { schema, ...(schemaType === 'AVRO' ? {} : { schemaType }), ...(references.length === 0 ? {} : { references }) }
}

/** The registry by calls alone, each answered in a later microtask. `before` may wait, fail or answer in its place. */
export function callsTo(registry: TestRegistry, before?: (call: HttpCall, options: HttpAskOptions) => Promise<HttpAnswer | undefined> | undefined): HttpClient {
  return {
    ask: async (call, options) => {
      const answered = await before?.(call, options)
      if (answered !== undefined) return answered
      const { pathname, search } = new URL(call.url)
      const lower = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name.toLowerCase(), value]))
      const { status, text } = registry.handle(call.method, pathname + search, lower, call.body ?? '')
      return { status, body: new TextEncoder().encode(text) }
    },
  }
}

/** The registry on a port of this machine. */
export async function listen(registry: TestRegistry): Promise<{ readonly url: string, close(): Promise<void> } & AsyncDisposable> {
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => { chunks.push(chunk) })
    request.on('end', () => {
      const { status, text } = registry.handle(request.method!, request.url!, request.headers as Record<string, string>, Buffer.concat(chunks).toString())
      response.writeHead(status, { 'Content-Type': 'application/vnd.schemaregistry.v1+json' })
      response.end(text)
    })
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  const close = (): Promise<void> => new Promise(resolve => {
    server.close(() => { resolve() })
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close, [Symbol.asyncDispose]: close }
}
