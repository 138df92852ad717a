import { describe, expect, it } from 'vitest'
import { brokerConfigs } from '../../../../../src/kernel/config/broker-config-table.ts'
import { isLoopback, planListeners } from '../../../../../src/plugins/protocol-kafka/core/listener-settings.ts'

const mapKey = 'listener.security.protocol.map'
const shippedMap = brokerConfigs.get(mapKey)!.default!

const plan = (listeners: string[], advertised: string[], insecure: boolean, protocols = shippedMap) =>
  planListeners({ listeners, advertised, insecure, protocols })

const refusal = (listeners: string[], advertised: string[] = [], insecure = false, protocols = shippedMap): { code: string, message: string } => {
  try {
    plan(listeners, advertised, insecure, protocols)
  } catch (error) {
    return error as { code: string, message: string }
  }
  throw new Error('it was accepted')
}

describe('listeners', () => {
  it('several named listeners are read, IPv6 in brackets, port 0', () => {
    expect(plan(['plaintext://127.0.0.1:9092', 'INTERNAL://[::1]:0'], [], false)).toEqual([
      { listen: { name: 'PLAINTEXT', host: '127.0.0.1', port: 9092 }, advertised: undefined },
      { listen: { name: 'INTERNAL', host: '::1', port: 0 }, advertised: undefined },
    ])
  })

  it('advertised addresses belong to listeners by name', () => {
    const [first, second] = plan(['A://127.0.0.1:1', 'B://127.0.0.1:2'], ['b://kafka.example:9000'], false)
    expect(first!.advertised).toBeUndefined()
    expect(second!.advertised).toEqual({ name: 'B', host: 'kafka.example', port: 9000 })
  })

  it('beyond this machine is refused without authentication, unless it is said to be meant', () => {
    for (const host of ['', '0.0.0.0', '[::]', '192.168.1.4', 'example.org', '128.0.0.1']) {
      expect(refusal([`PLAINTEXT://${host}:9092`], ['PLAINTEXT://example.org:9092']).code).toBe('MR_NET_INSECURE')
      expect(plan([`PLAINTEXT://${host}:9092`], ['PLAINTEXT://example.org:9092'], true)).toHaveLength(1)
    }
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) expect(isLoopback(host)).toBe(true)
  })

  it('clients are not told an address that means "all"', () => {
    const remedy = 'say with --advertise HOST:PORT (advertise: \'HOST:PORT\', or advertised.listeners) where they reach PLAINTEXT'
    const messageOf = (listeners: string[], advertised: string[]) => refusal(listeners, advertised, true).message
    expect(messageOf(['PLAINTEXT://0.0.0.0:9092'], [])).toBe(`invalid value PLAINTEXT://0.0.0.0:9092 for listeners: clients can not be sent to 0.0.0.0; ${remedy}`)
    expect(messageOf(['PLAINTEXT://:9092'], [])).toBe(`invalid value PLAINTEXT://:9092 for listeners: clients can not be sent to all addresses; ${remedy}`)
    expect(messageOf(['PLAINTEXT://127.0.0.1:9092'], ['PLAINTEXT://0.0.0.0:9092']))
      .toBe(`invalid value PLAINTEXT://0.0.0.0:9092 for advertised.listeners: clients can not be sent to 0.0.0.0; ${remedy}`)
  })

  it('a name that promises encryption or passwords is refused while there are none', () => {
    for (const name of ['SSL', 'SASL_SSL', 'sasl_plaintext']) expect(refusal([`${name}://127.0.0.1:9092`]).code).toBe('MR_CONFIG_UNSUPPORTED')
  })

  it('a name that is mapped to encryption or passwords is refused while there are none, in any case of letters, with what to do', () => {
    for (const protocol of ['SSL', 'SASL_SSL', 'sasl_plaintext']) {
      const error = refusal(['A://127.0.0.1:1', 'Ext://127.0.0.1:2'], [], true, `A:PLAINTEXT, ext : ${protocol}`)
      expect([error.code, error.message]).toEqual(['MR_CONFIG_UNSUPPORTED',
        expect.stringMatching(new RegExp(`^${mapKey}=.*there is no ${protocol} yet, every listener is PLAINTEXT; map EXT to PLAINTEXT .*or take it out`, 'i'))])
    }
  })

  it('names are mapped to PLAINTEXT, or not at all, and the map may have what no listener is named', () => {
    for (const map of ['', shippedMap, 'EXT:PLAINTEXT', 'ext:plaintext,OTHER:SASL_SSL,SSL:SSL']) expect(plan(['EXT://127.0.0.1:1'], [], false, map)).toHaveLength(1)
  })

  it.each([['EXT', 'NAME:PROTOCOL'], [':SSL', 'NAME:PROTOCOL'], ['EXT:PLAINTEXT:1', 'NAME:PROTOCOL'], ['EXT:TLS', 'TLS is no protocol'], ['EXT:PLAINTEXT,ext:PLAINTEXT', 'EXT is in it twice']])(
    'a map that reads %s is refused, as in Kafka', (map, reason) => {
      expect(refusal(['A://127.0.0.1:1'], [], false, map)).toMatchObject({ code: 'MR_CONFIG_INVALID', message: expect.stringContaining(reason) })
    })

  it('what is no address, a name twice, a port twice, and an unknown advertised name are refused', () => {
    for (const bad of ['127.0.0.1:9092', 'PLAINTEXT://127.0.0.1', 'PLAINTEXT://127.0.0.1:70000', 'PLAINTEXT://127.0.0.1:-1', 'PLAINTEXT://::1:9092', '://x:1']) {
      expect(refusal([bad]).code).toBe('MR_CONFIG_INVALID')
    }
    expect(refusal(['A://127.0.0.1:1', 'a://127.0.0.1:2']).message).toContain('two listeners are named A')
    expect(refusal(['A://127.0.0.1:1', 'B://127.0.0.1:1']).message).toContain('share port 1')
    expect(plan(['A://127.0.0.1:0', 'B://127.0.0.1:0'], [], false)).toHaveLength(2)
    expect(refusal(['A://127.0.0.1:1'], ['B://x:1']).message).toContain('no listener is named B')
  })
})
