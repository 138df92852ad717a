import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Broker } from '../../src/broker/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'
import { essentialChecks, runCheck } from '../compat/own-client/client-suite.ts'

let broker: Broker

beforeAll(async () => {
  broker = await createTestBroker()
})
afterAll(async () => {
  await broker.stop()
})

describe('the client over the network', () => {
  for (const check of essentialChecks) it(check.name, () => runCheck(check, { bootstrap: broker.bootstrap }))
})

describe('the client in the process of the broker', () => {
  for (const check of essentialChecks) it(check.name, () => runCheck(check, { inProcess: { dispatcher: broker.dispatcher } }))
})
