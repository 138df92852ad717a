import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { createTestBroker } from '../../src/harness/index.ts'

it('createTestBroker listens on a free port, in memory, and is gone with its scope', async () => {
  let port = 0
  {
    await using broker = await createTestBroker()
    await using other = await createTestBroker()
    port = broker.kafka!.port
    expect(port).not.toBe(other.kafka!.port)
    expect(broker.http).toBeUndefined()
    expect([...broker.dispatcher.versions().keys()]).toContain(18)
  }
  const refused = await new Promise<string>((resolve) => { connect(port, '127.0.0.1').once('error', (error: NodeJS.ErrnoException) => { resolve(error.code ?? '') }) })
  expect(refused).toBe('ECONNREFUSED')
})
