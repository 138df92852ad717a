import { composeBroker, type Broker, type BrokerOptions } from '../broker/index.ts'

/**
 * A started broker for a test: in memory, on a free port of 127.0.0.1, silent, ready in well under 300 ms. Stop it, or declare it with
 * `await using`. Options go before these defaults, so a test may choose `preset: 'single-node'` and a data directory.
 */
export async function createTestBroker(options: BrokerOptions = {}): Promise<Broker> {
  const listen = options.listen === undefined && options.broker?.['listeners'] === undefined ? { listen: '127.0.0.1:0' } : {}
  const composed = await composeBroker({
    file: { preset: 'memory', ...listen, ...options },
    defaults: { http: 'off', logLevel: 'silent' },
  })
  const broker = composed.create()
  await broker.start()
  return broker
}
