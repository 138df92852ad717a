import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Broker } from '../../src/broker/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'
import { allChecks, runCheck } from '../compat/own-client/client-suite.ts'
import { classicGroupChecks, consumerGroupChecks } from '../compat/own-client/group-suite.ts'

const checks = [...allChecks, ...classicGroupChecks, ...consumerGroupChecks]
/** Topics that come are looked for this often. */
const metadataAgeMsMax = 500

let broker: Broker

beforeAll(async () => {
  broker = await createTestBroker({ broker: { 'group.consumer.min.heartbeat.interval.ms': '200', 'group.consumer.heartbeat.interval.ms': '200' } })
})
afterAll(async () => {
  await broker.stop()
})

describe('the client over the network', () => {
  for (const check of checks) it(check.name, { timeout: 60_000 }, () => runCheck(check, { bootstrap: broker.bootstrap, metadataAgeMsMax }))
})

describe('the client in the process of the broker', () => {
  for (const check of checks) it(check.name, { timeout: 60_000 }, () => runCheck(check, { inProcess: { dispatcher: broker.dispatcher }, metadataAgeMsMax }))
})
