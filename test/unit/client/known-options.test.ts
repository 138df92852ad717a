import { describe, expect, it } from 'vitest'
import { createClient, createConsumer, createProducer } from '../../../src/client/index.ts'

const bootstrap = '127.0.0.1:9092'
/** As from a program without types. */
const any = (options: object): never => options as never

describe('a client setting that does not exist', () => {
  it('is refused with the nearest that does', () => {
    expect(() => createClient(any({ boostrap: bootstrap }))).toThrow('client setting boostrap: it is unknown here; did you mean bootstrap?')
    expect(() => createProducer(any({ bootstrap, compresion: 'zstd' }))).toThrow('client setting compresion: it is unknown here; did you mean compression?')
    expect(() => createConsumer(any({ bootstrap, lingerMs: 1 }))).toThrow('client setting lingerMs: it is unknown here')
  })

  it('is refused where it belongs to another part of the client', async () => {
    const client = createClient({ bootstrap })
    expect(() => client.producer(any({ clientId: 'x' }))).toThrow(expect.objectContaining({ code: 'MR_CLIENT_SETTING' }))
    expect(() => client.consumer(any({ acks: 1 }))).toThrow(expect.objectContaining({ code: 'MR_CLIENT_SETTING' }))
    await client.close()
  })

  it('is no mistake when it is undefined', async () => {
    const producer = createProducer(any({ bootstrap, compresion: undefined, lingerMs: 5 }))
    await producer.close()
  })

  it('is refused where it is for groups, and there is none', () => {
    expect(() => createConsumer(any({ bootstrap, autoCommit: false }))).toThrow('client setting autoCommit: it is for members of groups; give a groupId')
  })

  it('is refused where a group cannot have it', () => {
    for (const [wrong, why] of [
      [{ groupId: '' }, 'groupId'], [{ groupProtocol: 'new' }, 'groupProtocol'], [{ assignors: ['fair'] }, 'assignors: fair is not one of cooperative-sticky, sticky, range, roundrobin'],
      [{ offsetReset: 'none' }, 'offsetReset: none is not one of earliest, latest, error, { durationMs }'], [{ sessionTimeoutMs: 1000, heartbeatIntervalMs: 1000 }, 'heartbeatIntervalMs'],
    ] as const) expect(() => createConsumer(any({ bootstrap, groupId: 'g', ...wrong }))).toThrow(why)
  })
})
