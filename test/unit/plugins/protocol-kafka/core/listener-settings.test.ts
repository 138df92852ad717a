import { describe, expect, it } from 'vitest'
import { isLoopback, planListeners } from '../../../../../src/plugins/protocol-kafka/core/listener-settings.ts'

const refusal = (listeners: string[], advertised: string[] = [], insecure = false): { code: string, message: string } => {
  try {
    planListeners(listeners, advertised, insecure)
  } catch (error) {
    return error as { code: string, message: string }
  }
  throw new Error('it was accepted')
}

describe('listeners', () => {
  it('several named listeners are read, IPv6 in brackets, port 0', () => {
    expect(planListeners(['plaintext://127.0.0.1:9092', 'INTERNAL://[::1]:0'], [], false)).toEqual([
      { listen: { name: 'PLAINTEXT', host: '127.0.0.1', port: 9092 }, advertised: undefined },
      { listen: { name: 'INTERNAL', host: '::1', port: 0 }, advertised: undefined },
    ])
  })

  it('advertised addresses belong to listeners by name', () => {
    const [first, second] = planListeners(['A://127.0.0.1:1', 'B://127.0.0.1:2'], ['b://kafka.example:9000'], false)
    expect(first!.advertised).toBeUndefined()
    expect(second!.advertised).toEqual({ name: 'B', host: 'kafka.example', port: 9000 })
  })

  it('beyond this machine is refused without authentication, unless it is said to be meant', () => {
    for (const host of ['', '0.0.0.0', '[::]', '192.168.1.4', 'example.org', '128.0.0.1']) {
      expect(refusal([`PLAINTEXT://${host}:9092`], ['PLAINTEXT://example.org:9092']).code).toBe('MR_NET_INSECURE')
      expect(planListeners([`PLAINTEXT://${host}:9092`], ['PLAINTEXT://example.org:9092'], true)).toHaveLength(1)
    }
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1']) expect(isLoopback(host)).toBe(true)
  })

  it('clients are not told an address that means "all"', () => {
    expect(refusal(['PLAINTEXT://0.0.0.0:9092'], [], true)).toMatchObject({ code: 'MR_CONFIG_INVALID', message: expect.stringContaining('advertised.listeners') })
    expect(refusal(['PLAINTEXT://127.0.0.1:9092'], ['PLAINTEXT://0.0.0.0:9092']).code).toBe('MR_CONFIG_INVALID')
  })

  it('a name that promises encryption or passwords is refused while there are none', () => {
    for (const name of ['SSL', 'SASL_SSL', 'sasl_plaintext']) expect(refusal([`${name}://127.0.0.1:9092`]).code).toBe('MR_CONFIG_UNSUPPORTED')
  })

  it('what is no address, a name twice, a port twice, and an unknown advertised name are refused', () => {
    for (const bad of ['127.0.0.1:9092', 'PLAINTEXT://127.0.0.1', 'PLAINTEXT://127.0.0.1:70000', 'PLAINTEXT://127.0.0.1:-1', 'PLAINTEXT://::1:9092', '://x:1']) {
      expect(refusal([bad]).code).toBe('MR_CONFIG_INVALID')
    }
    expect(refusal(['A://127.0.0.1:1', 'a://127.0.0.1:2']).message).toContain('two listeners are named A')
    expect(refusal(['A://127.0.0.1:1', 'B://127.0.0.1:1']).message).toContain('share port 1')
    expect(planListeners(['A://127.0.0.1:0', 'B://127.0.0.1:0'], [], false)).toHaveLength(2)
    expect(refusal(['A://127.0.0.1:1'], ['B://x:1']).message).toContain('no listener is named B')
  })
})
