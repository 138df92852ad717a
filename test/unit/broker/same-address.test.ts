import { describe, expect, it } from 'vitest'
import { composeBroker } from '../../../src/broker/index.ts'

const compose = (listen: string, http: string) => composeBroker({ file: { preset: 'memory', listen, insecure: true }, commandLine: { http } })

describe('HTTP on the address of the Kafka protocol', () => {
  it.each([
    ['127.0.0.1:9092', '127.0.0.1:9092'], ['localhost:9092', '127.0.0.1:9092'], ['127.0.0.1:9092', '0.0.0.0:9092'], ['[::]:9092', '[::1]:9092'],
  ])('is refused with both: %s and %s', async (listen, http) => {
    await expect(compose(listen, http)).rejects.toMatchObject({
      code: 'MR_CONFIG_INVALID', details: { key: 'http', value: http }, message: expect.stringContaining(`the Kafka protocol listens there already (PLAINTEXT://${listen}); choose another port`),
    })
  })

  it.each([
    ['127.0.0.1:9092', '127.0.0.1:9093'], ['127.0.0.1:0', '127.0.0.1:0'], ['127.0.0.1:9092', '[::1]:9092'], ['127.0.0.1:9092', 'off'],
  ])('is not seen where they differ: %s and %s', async (listen, http) => {
    await expect(compose(listen, http)).resolves.toBeDefined()
  })
})
