import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createBroker, type Broker } from '../../../src/broker/index.ts'
import { storageMemory } from '../../../src/plugins/storage-memory/plugin.ts'

const data = mkdtempSync(join(tmpdir(), 'millrace-inquiry-'))
afterAll(() => { rmSync(data, { recursive: true }) })

const make = (): Promise<Broker> => createBroker({ data, logLevel: 'silent', listen: '127.0.0.1:0', plugins: [{ use: storageMemory, instead: 'storage-local' }] })

describe('a broker whose metadata alone says which cluster it is of', () => {
  it('has let the metadata go when a stop resolves that came while it was asked, and does not start', async () => {
    const stopped = await make()
    const refused = expect(stopped.start()).rejects.toMatchObject({ code: expect.stringMatching(/^MR_(CLUSTER_STOPPED|HOST_START_FAILED)$/) })
    await stopped.stop()
    // At once: whoever still had it would be met as MR_LOG_DIRECTORY_LOCKED.
    await using next = await make()
    await next.start()
    await refused
    expect(readdirSync(data)).toContain('__millrace_metadata')
  })

  it('has an identity that is final once it is started', async () => {
    const clusters: string[] = []
    for (let life = 0; life < 3; life++) {
      await using broker = await make()
      await broker.start()
      clusters.push(broker.identity.clusterId)
    }
    expect(new Set(clusters).size).toBe(1)
  })
})
