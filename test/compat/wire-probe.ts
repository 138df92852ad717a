import { connect } from 'node:net'

/**
 * The two questions that the harness asks a broker by itself, in the oldest versions that every broker answers, so
 * that it can tell "not up yet" and "does not offer that" from a failing client.
 */
const API_VERSIONS = 18
const METADATA = 3

function request (bootstrap: string, apiKey: number, version: number, body: Buffer, timeoutMs: number): Promise<Buffer> {
  const at = bootstrap.lastIndexOf(':')
  const clientId = Buffer.from('compat-probe')
  const header = Buffer.alloc(4 + 2 + 2 + 4 + 2)
  header.writeInt32BE(header.length - 4 + clientId.length + body.length, 0)
  header.writeInt16BE(apiKey, 4)
  header.writeInt16BE(version, 6)
  header.writeInt32BE(1, 8)
  header.writeInt16BE(clientId.length, 12)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: bootstrap.slice(0, at), port: Number(bootstrap.slice(at + 1)) })
    let received = Buffer.alloc(0)
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer from ${bootstrap} within ${timeoutMs} ms`)))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`${bootstrap} closed the connection`)))
    socket.on('connect', () => socket.write(Buffer.concat([header, clientId, body])))
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk])
      if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) return
      resolve(received.subarray(8, 4 + received.readInt32BE(0)))
      socket.destroy()
    })
  })
}

/** API keys that a broker advertises, with its highest version of each. */
export async function advertisedApis (bootstrap: string, timeoutMs = 5000): Promise<Map<number, number>> {
  const answer = await request(bootstrap, API_VERSIONS, 0, Buffer.alloc(0), timeoutMs)
  const apis = new Map<number, number>()
  for (let i = 0, count = answer.readInt32BE(2); i < count; i++) {
    apis.set(answer.readInt16BE(6 + 6 * i), answer.readInt16BE(10 + 6 * i))
  }
  return apis
}

/** Brokers that the cluster knows; Kafka answers 0 until its only broker is registered and unfenced. */
export async function brokerCount (bootstrap: string, timeoutMs = 5000): Promise<number> {
  const noTopics = Buffer.from([0, 0, 0, 0])
  return (await request(bootstrap, METADATA, 1, noTopics, timeoutMs)).readInt32BE(0)
}

/** Waits until the broker serves clients. `alive` says why waiting is in vain, if it is. */
export async function waitUntilServing (
  bootstrap: string,
  { timeoutMs = 60_000, pollMs = 50, alive = (): string | undefined => undefined } = {},
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const dead = alive()
    if (dead) throw new Error(dead)
    if (await brokerCount(bootstrap, 1000).catch(() => 0) > 0) return
    if (Date.now() > deadline) throw new Error(`${bootstrap} does not serve clients after ${timeoutMs} ms`)
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
}
