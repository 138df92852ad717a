import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Consumer, createClient, createConsumer, createProducer, GroupConsumer } from '../../../src/client/index.ts'

const bootstrap = '127.0.0.1:9092'
/** As from a program without types. */
const any = (options: object): never => options as never

describe('a method of the other kind of consumer', () => {
  const own = (of: { readonly prototype: object }): string[] => Object.getOwnPropertyNames(of.prototype)
  const code = 'MR_CLIENT_UNSUPPORTED'

  it('is refused with what to do, and not with `is not a function`', async () => {
    const consumer = createConsumer({ bootstrap })
    const ofGroup = createConsumer({ bootstrap, groupId: 'g' })
    const wrong = consumer as unknown as GroupConsumer
    expect(() => { wrong.subscribe(['a']) }).toThrow(expect.objectContaining({ code, message: expect.stringMatching(/^consumer\.subscribe is not supported: .* give createConsumer a groupId/) }))
    expect(() => wrong.commit()).toThrow(expect.objectContaining({ code }))
    expect(() => { (ofGroup as unknown as Consumer).assign([]) }).toThrow(expect.objectContaining({ code, message: expect.stringMatching(/^consumer\.assign is not supported: .* subscribe to topics/) }))
    await Promise.all([consumer.close(), ofGroup.close()])
  })

  it('is there for each that only one of the two has, and none is refused that a consumer has itself', () => {
    // Of what is private in TypeScript nobody outside knows.
    const offered = (file: string): string[] => [...readFileSync(new URL(`../../../src/client/${file}.ts`, import.meta.url), 'utf8').matchAll(/^ {2}(?:async )?(\w+)\(.*\{$/gm)].map((found) => found[1]!).filter((name) => name !== 'constructor')
    const [ofConsumer, ofGroup] = [offered('consumer/consumer'), offered('group/group-consumer')]
    expect(ofGroup.length).toBeGreaterThan(10)
    expect(ofGroup.filter((name) => !own(Consumer).includes(name))).toEqual([])
    expect(ofConsumer.filter((name) => !own(GroupConsumer).includes(name))).toEqual([])
    for (const [of, names] of [[Consumer, ofConsumer], [GroupConsumer, ofGroup]] as const) {
      for (const name of names) expect([name, String(Object.getOwnPropertyDescriptor(of.prototype, name)!.value).includes('MR_CLIENT_UNSUPPORTED\', { what: `')]).toEqual([name, false])
    }
  })
})

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
