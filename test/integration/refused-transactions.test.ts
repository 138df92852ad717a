import { spawn, spawnSync } from 'node:child_process'
import kafkajs from 'kafkajs'
import { expect, it } from 'vitest'
import { createTestBroker } from '../../src/harness/index.ts'

const { Kafka, logLevel } = kafkajs
const hasKcat = spawnSync('kcat', ['-V']).error === undefined

it('a transactional producer of kafkajs gets the code of the refusal at once, and is not asked to try again', async () => {
  await using broker = await createTestBroker()
  const kafka = new Kafka({ brokers: [`127.0.0.1:${broker.kafka!.port}`], logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ transactionalId: 'tx', maxInFlightRequests: 1, idempotent: true })
  await producer.connect()
  await expect(producer.transaction()).rejects.toMatchObject({ name: 'KafkaJSProtocolError', type: 'UNSUPPORTED_VERSION', retriable: false })
  await producer.disconnect()
})

it.skipIf(!hasKcat)('a transactional producer of librdkafka ends with a fatal error, and not with the end of its time', async () => {
  await using broker = await createTestBroker()
  const child = spawn('kcat', ['-P', '-b', `127.0.0.1:${broker.kafka!.port}`, '-t', 't', '-X', 'transactional.id=tx'], { stdio: ['pipe', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { said += text })
  child.stdin.end('record\n')
  const code = await new Promise<number | null>((resolve) => { child.on('close', resolve) })
  expect([code, said]).toEqual([1, expect.stringMatching(/Transactional Id authorization failed/)])
})
