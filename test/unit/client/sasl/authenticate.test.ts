import { pbkdf2Sync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { NodeHashing } from '../../../../src/platform/node-hashing.ts'
import { kafkaErrors } from '../../../../src/wire/index.ts'
import { testWorld, type TestWorld } from '../world/client-world.ts'
import { type Deed } from '../world/fake-cluster.ts'
import { type Call } from '../world/fake-node.ts'

const hashing = new NodeHashing()
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value)
const base64 = (value: Uint8Array): string => Buffer.from(value).toString('base64')

interface Server {
  readonly password: string
  readonly lifetimeMs?: number
  readonly wrongSignature?: boolean
}

/** The broker's side of SASL. Counts how often a connection was let in. */
function saslServer(server: Server): { script: (call: Call) => Deed | undefined, admitted: number, unauthenticated: number, between: number } {
  const state = { script, admitted: 0, unauthenticated: 0, between: 0 }
  const inside = new WeakSet<object>()
  const exchanges = new WeakMap<object, { mechanism: string, first?: string, challenge?: string }>()
  function respond(response: object): Deed { return { respond: { errorMessage: null, authBytes: new Uint8Array(0), errorCode: 0, ...response } } }
  function script(call: Call): Deed | undefined {
    if (call.api.key === 18) return undefined
    if (call.api.key === 17) {
      const { mechanism } = call.request as { mechanism: string }
      exchanges.set(call.connection, { mechanism })
      return { respond: { errorCode: 0, mechanisms: [mechanism] } }
    }
    const exchange = exchanges.get(call.connection)
    if (call.api.key !== 36) {
      if (!inside.has(call.connection)) state.unauthenticated++
      if (exchange !== undefined) state.between++
      return undefined
    }
    const message = text((call.request as { authBytes: Uint8Array }).authBytes)
    const admit = (authBytes: Uint8Array = new Uint8Array(0)): Deed => {
      inside.add(call.connection)
      exchanges.delete(call.connection)
      state.admitted++
      return respond({ authBytes, sessionLifetimeMs: server.lifetimeMs ?? 0 })
    }
    const refuse = (): Deed => respond({ errorCode: kafkaErrors.SASL_AUTHENTICATION_FAILED, errorMessage: 'Authentication failed: wrong password' })
    if (exchange!.mechanism === 'PLAIN') return message === `\0alice\0${server.password}` ? admit() : refuse()
    if (exchange!.first === undefined) {
      exchange!.first = message.slice(3)
      exchange!.challenge = `${message.slice(message.indexOf('r='))}server,s=${base64(bytes('salt'))},i=4096`
      return respond({ authBytes: bytes(exchange!.challenge) })
    }
    const algorithm = exchange!.mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512'
    const salted = pbkdf2Sync(server.password, bytes('salt'), 4096, algorithm === 'sha256' ? 32 : 64, algorithm)
    const withoutProof = message.slice(0, message.indexOf(',p='))
    const authMessage = bytes(`${exchange!.first},${exchange!.challenge!},${withoutProof}`)
    const clientKey = hashing.hmac(algorithm, salted, bytes('Client Key'))
    const signature = hashing.hmac(algorithm, hashing.digest(algorithm, clientKey), authMessage)
    const proof = clientKey.map((byte, index) => byte ^ signature[index]!)
    if (message !== `${withoutProof},p=${base64(proof)}`) return refuse()
    const serverSignature = hashing.hmac(algorithm, hashing.hmac(algorithm, salted, bytes('Server Key')), authMessage)
    if (server.wrongSignature === true) serverSignature[0]! ^= 1
    return admit(bytes(`v=${base64(serverSignature)}`))
  }
  return state
}

async function worldWith(server: Server, latencyMs?: number): Promise<{ world: TestWorld, state: ReturnType<typeof saslServer> }> {
  const world = await testWorld(latencyMs === undefined ? {} : { latencyMs })
  world.cluster.addTopic('t', [1])
  const state = saslServer(server)
  world.cluster.script = state.script
  return { world, state }
}

describe('authentication', () => {
  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)('gets in by %s before it asks for anything else', async mechanism => {
    const { world, state } = await worldWith({ password: 'secret' })
    const producer = world.client({ sasl: { mechanism, username: 'alice', password: 'secret' } }).producer()
    await world.complete(producer.send({ topic: 't', value: 'x' }))
    expect(state.unauthenticated).toBe(0)
    expect(state.admitted).toBeGreaterThanOrEqual(2)
  })

  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)('a wrong password is final with %s, and the reason of the broker is told', async mechanism => {
    const { world } = await worldWith({ password: 'secret' })
    const client = world.client({ sasl: { mechanism, username: 'alice', password: 'guess' } })
    const error = await world.rejection(client.producer().send({ topic: 't', value: 'x' }), 2000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_AUTHENTICATION' })
    expect((error as Error).message).toContain('wrong password')
    const consumer = client.consumer()
    consumer.assign([{ topic: 't', partition: 0 }])
    expect(await world.rejection(consumer.poll(), 2000)).toMatchObject({ code: 'MR_CLIENT_AUTHENTICATION' })
    expect(await world.rejection(client.admin().describeCluster(), 2000)).toMatchObject({ code: 'MR_CLIENT_AUTHENTICATION' })
  })

  it('refuses a broker that cannot prove that it knows the password', async () => {
    const { world } = await worldWith({ password: 'secret', wrongSignature: true })
    const producer = world.client({ sasl: { mechanism: 'SCRAM-SHA-256', username: 'alice', password: 'secret' } }).producer()
    const error = await world.rejection(producer.send({ topic: 't', value: 'x' }), 2000)
    expect(error).toMatchObject({ code: 'MR_CLIENT_AUTHENTICATION' })
    expect((error as Error).message).toContain('signature')
  })

  it('quirk 11: authenticates again before the session ends, while records flow, on the same connection', async () => {
    const { world, state } = await worldWith({ password: 'secret', lifetimeMs: 10_000 }, 30)
    const producer = world.client({ sasl: { mechanism: 'SCRAM-SHA-256', username: 'alice', password: 'secret' } }).producer()
    const sent: Promise<unknown>[] = []
    for (let round = 0; round < 3000; round++) {
      sent.push(producer.send({ topic: 't', value: `v${round}` }))
      await world.scheduler.runFor(10)
    }
    await world.complete(Promise.all(sent))
    expect(state.admitted).toBeGreaterThan(6)
    expect([state.unauthenticated, state.between]).toEqual([0, 0])
    // One to find the cluster, one for metadata, one to produce.
    expect(world.cluster.nodes.get(1)!.accepted).toBeLessThanOrEqual(3)
    expect(world.cluster.log('t', 0).records()).toHaveLength(3000)
  })

  it('says that a broker offers no SASL', async () => {
    const { world } = await worldWith({ password: 'secret' })
    world.cluster.versions.delete(17)
    const producer = world.client({ sasl: { mechanism: 'PLAIN', username: 'alice', password: 'secret' } }).producer()
    expect(await world.rejection(producer.send({ topic: 't', value: 'x' }), 2000)).toMatchObject({ code: 'MR_CLIENT_AUTHENTICATION' })
  })
})
