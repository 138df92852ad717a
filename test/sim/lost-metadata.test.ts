import { describe, expect, it } from 'vitest'
import { type BrokerOptions } from '../../src/broker/index.ts'
import { isMillraceError, type MillraceError } from '../../src/kernel/errors/index.ts'
import { type FileSystem } from '../../src/kernel/ports/file-system.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { crashAt } from './crash-points.ts'

const metadataPath = '/data/__millrace_metadata'

async function produceOne(sim: SimBroker): Promise<void> {
  await using client = sim.client()
  await client.admin().createTopics([{ name: 'orders', partitions: 2 }])
  await client.producer().send({ topic: 'orders', partition: 0, value: 'kept' })
}

async function readOne(sim: SimBroker): Promise<string | null> {
  await using client = sim.client()
  const consumer = client.consumer()
  consumer.assign([{ topic: 'orders', partition: 0, offset: 'beginning' }])
  return (await consumer.poll({ timeoutMs: 10_000 }))[0]!.text()
}

async function refusal(sim: SimBroker): Promise<MillraceError> {
  try {
    await sim.start()
  } catch (error) {
    if (isMillraceError(error)) return error
    throw error
  }
  throw new Error('it started')
}

/** A broker that was stopped with one record. */
async function stopped(options: BrokerOptions = {}): Promise<SimBroker> {
  const sim = await createSimBroker({ seed: 11, options })
  await sim.run(async () => {
    await sim.start()
    await produceOne(sim)
    await sim.stop()
  })
  return sim
}

const partitions = (files: FileSystem, directory = '/data'): string[] => files.list(directory).filter((name) => name.startsWith('orders'))

function write(files: FileSystem, path: string, text: string): void {
  const file = files.open(path, 'ensure')
  file.truncate(0)
  file.write([new TextEncoder().encode(text)], 0)
  file.close()
}

/** The lines that an error says a `meta.properties` must have, as they are to be typed. */
const linesOf = (error: MillraceError): string => String(error.details.lines).split(/, | and /).join('\n')

describe('a start without the metadata', () => {
  it('is refused at each try while there are partitions, touches none, and works when the metadata is back', async () => {
    const sim = await stopped()
    sim.machine.process.files.rename(metadataPath, '/backup')
    await sim.run(async () => {
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = await refusal(sim)
        expect(error).toMatchObject({ code: 'MR_CLUSTER_METADATA_LOST', details: { path: metadataPath, partition: '/data/orders-0' } })
        expect(error.message).toContain('millrace cluster recover')
      }
      expect(partitions(sim.machine.process.files)).toEqual(['orders-0', 'orders-1'])
      expect(sim.machine.process.files.stat(metadataPath)).toBeUndefined()
      sim.machine.process.files.rename('/backup', metadataPath)
      await sim.start()
      expect(await readOne(sim)).toBe('kept')
    })
  })

  it('begins anew when the partitions are moved away', async () => {
    const sim = await stopped()
    const { files } = sim.machine.process
    files.remove(metadataPath)
    files.makeDirectory('/elsewhere')
    for (const name of partitions(files)) files.rename(`/data/${name}`, `/elsewhere/${name}`)
    await sim.run(async () => {
      await sim.start()
      await produceOne(sim)
    })
  })

  it('is refused for a partition of any data directory', async () => {
    const sim = await stopped({ data: ['/data', '/data2'] })
    const { files } = sim.machine.process
    for (const name of ['__millrace_metadata', ...partitions(files)]) files.remove(`/data/${name}`)
    expect(partitions(files, '/data2')).toHaveLength(1)
    await sim.run(async () => {
      expect(await refusal(sim)).toMatchObject({ code: 'MR_CLUSTER_METADATA_LOST', details: { partition: expect.stringContaining('/data2/orders-') } })
    })
  })
})

describe('metadata that is removed while the broker runs', () => {
  it('ends the broker before anything more is acknowledged', async () => {
    const sim = await createSimBroker({ seed: 2 })
    await sim.run(async () => {
      await sim.start()
      await produceOne(sim)
      const { failed } = sim.broker
      sim.machine.process.files.remove(metadataPath)
      const created = sim.client('late', { requestTimeoutMs: 3000 }).admin().createTopics([{ name: 'late', partitions: 1 }])
      await expect(created).rejects.toBeDefined()
      expect(await failed).toMatchObject({ code: 'MR_FILE_NOT_FOUND', details: { path: `${metadataPath}/log` } })
    })
  })
})

describe('a start without meta.properties', () => {
  it('is refused with the lines that make it again, writes nothing, and works with these', async () => {
    const sim = await stopped()
    const path = '/data/meta.properties'
    sim.machine.process.files.remove(path)
    await sim.run(async () => {
      let lines = ''
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = await refusal(sim)
        expect(error).toMatchObject({ code: 'MR_CLUSTER_META_PROPERTIES_LOST', details: { paths: '/data', partition: '/data/orders-0' } })
        lines = linesOf(error)
      }
      expect(sim.machine.process.files.stat(path)).toBeUndefined()
      expect(lines).toMatch(/^version=1\ncluster\.id=\S{22}\nnode\.id=1\ndirectory\.id=\S{22}$/)
      write(sim.machine.process.files, path, lines)
      await sim.start()
      expect(await readOne(sim)).toBe('kept')
    })
  })

  it('takes the cluster from another data directory', async () => {
    const sim = await stopped({ data: ['/data', '/data2'] })
    sim.machine.process.files.remove('/data/meta.properties')
    await sim.run(async () => {
      await sim.start()
      expect(await readOne(sim)).toBe('kept')
    })
  })

  it('and without metadata is refused for the metadata, which would have known it', async () => {
    const sim = await stopped()
    for (const path of ['/data/meta.properties', metadataPath]) sim.machine.process.files.remove(path)
    await sim.run(async () => {
      expect(await refusal(sim)).toMatchObject({ code: 'MR_CLUSTER_METADATA_LOST' })
      expect(sim.machine.process.files.stat('/data/meta.properties')).toBeUndefined()
    })
  })

  it('of the same cluster as the metadata is refused with both clusters, and the lines of the metadata\'s', async () => {
    const sim = await stopped()
    const { files } = sim.machine.process
    write(files, '/data/meta.properties', 'version=1\ncluster.id=b3JkZXJzb3JkZXJzb3JkZQ\nnode.id=1\n')
    await sim.run(async () => {
      const error = await refusal(sim)
      expect(error).toMatchObject({ code: 'MR_CLUSTER_METADATA_FOREIGN', details: { expected: 'b3JkZXJzb3JkZXJzb3JkZQ' } })
      write(sim.machine.process.files, '/data/meta.properties', linesOf(error))
      await sim.start()
      expect(await readOne(sim)).toBe('kept')
    })
  })
})

describe('metadata outside of data directories that are empty', () => {
  const options = { settings: { 'coordination-single': { path: '/meta' } } }

  it('is taken for a disk that is not mounted: the start is refused at each try, nothing is written, and it works when the disk is back', async () => {
    const sim = await stopped(options)
    sim.machine.process.files.rename('/data', '/away')
    await sim.run(async () => {
      for (const isThere of [false, true]) {
        if (isThere) sim.machine.process.files.makeDirectory('/data')
        expect(await refusal(sim)).toMatchObject({ code: 'MR_CLUSTER_DATA_EMPTY', details: { paths: '/data', metadata: '/meta', partitions: 2 } })
        expect(isThere ? sim.machine.process.files.list('/data') : sim.machine.process.files.stat('/data')).toEqual(isThere ? [] : undefined)
      }
      sim.machine.process.files.remove('/data')
      sim.machine.process.files.rename('/away', '/data')
      await sim.start()
      expect(await readOne(sim)).toBe('kept')
    })
  })

  it('begins its partitions anew with the lines that the error gives', async () => {
    const sim = await stopped(options)
    sim.machine.process.files.remove('/data')
    await sim.run(async () => {
      const error = await refusal(sim)
      sim.machine.process.files.makeDirectory('/data')
      write(sim.machine.process.files, '/data/meta.properties', linesOf(error))
      await sim.start()
      expect(partitions(sim.machine.process.files)).toEqual(['orders-0', 'orders-1'])
    })
  })

  it('that never had a partition is of another cluster, as ever', async () => {
    const sim = await createSimBroker({ seed: 12, options })
    await sim.run(async () => {
      await sim.start()
      await sim.stop()
      sim.machine.process.files.remove('/data')
      expect(await refusal(sim)).toMatchObject({ code: 'MR_CLUSTER_METADATA_FOREIGN' })
    })
  })
})

describe('a first start', () => {
  it('that is ended at any step, killed or by a power cut, is followed by one that works', async () => {
    let steps = 0
    for (let step = 1; ; step++) {
      const sim = await createSimBroker({ seed: step })
      const passed = await sim.run(async () => {
        const point = crashAt(sim, step, () => { if (step % 2 === 0) sim.kill(); else sim.powerCut() })
        const started = await Promise.race([sim.start().then(() => true), point.crashed.then(() => false)])
        if (started) return true
        await sim.start()
        await produceOne(sim)
        expect(await readOne(sim)).toBe('kept')
        return false
      })
      if (passed) break
      steps++
    }
    expect(steps).toBeGreaterThan(10)
  })
})
