import { describe, expect, it } from 'vitest'
import { isMillraceError } from '../../src/kernel/errors/index.ts'
import { type KeyValuePut } from '../../src/kernel/ports/key-value-store.ts'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { crashAt } from './crash-points.ts'

const path = '/data/__millrace_metadata'
const witness = `${path}/witness.dat`

interface Copy {
  readonly entries: readonly KeyValuePut[]
  readonly witness: Uint8Array
}

/** Of the metadata of a broker that is stopped. */
async function copyOf(sim: SimBroker): Promise<Copy> {
  const { files, keyValues } = sim.machine.process
  const store = await keyValues.open(`${path}/log`)
  const entries = (await store.range({ from: Uint8Array.of(0), to: Uint8Array.of(255, 255) })).map(([key, value]) => ({ key, value }))
  await store.close()
  const bytes = new Uint8Array(files.stat(witness)!.bytes)
  const file = files.open(witness, 'read')
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return { entries, witness: bytes }
}

async function putBack(sim: SimBroker, copy: Copy): Promise<void> {
  const { files, keyValues } = sim.machine.process
  files.remove(path)
  const store = await keyValues.open(`${path}/log`)
  await store.write(copy.entries, { sync: true })
  await store.close()
  const file = files.open(witness, 'ensure')
  file.write([copy.witness], 0)
  file.syncNow()
  file.close()
  files.syncDirectory(path)
  files.syncDirectory('/data')
}

async function produce(sim: SimBroker, value: string): Promise<void> {
  await using client = sim.client()
  await client.producer().send({ topic: 'orders', partition: 0, value })
}

async function values(sim: SimBroker, count: number): Promise<readonly (string | null)[]> {
  await using client = sim.client()
  const consumer = client.consumer()
  consumer.assign([{ topic: 'orders', partition: 0, offset: 'beginning' }])
  const found: (string | null)[] = []
  while (found.length < count) for (const record of await consumer.poll({ timeoutMs: 10_000 })) found.push(record.text())
  return found
}

async function refusal(sim: SimBroker): Promise<unknown> {
  try {
    await sim.start()
  } catch (error) {
    if (isMillraceError(error)) return { code: error.code, details: error.details }
    throw error
  }
  return 'it started'
}

const endings = {
  'a stop': async (sim: SimBroker): Promise<void> => { await sim.stop() },
  'a kill': (sim: SimBroker): Promise<void> => { sim.kill(); return Promise.resolve() },
  'a power cut': (sim: SimBroker): Promise<void> => { sim.powerCut(); return Promise.resolve() },
}

describe('metadata of which an older copy was put back', () => {
  for (const lives of [1, 2, 4]) {
    for (const [ending, end] of Object.entries(endings)) {
      it(`${lives} lives ago, after ${ending}: the start is refused at each try, touches no record, and the newest copy is taken`, async () => {
        const sim = await createSimBroker({ seed: 11 })
        await sim.run(async () => {
          await sim.start()
          await using client = sim.client()
          await client.admin().createTopics([{ name: 'orders', partitions: 3 }])
          await produce(sim, 'first')
          await sim.stop()
          const older = await copyOf(sim)
          const wanted = ['first']
          for (let life = 0; life < lives; life++) {
            await sim.start()
            await produce(sim, `life ${life}`)
            wanted.push(`life ${life}`)
            if (life < lives - 1) await sim.stop()
          }
          await end(sim)
          const newest = await copyOf(sim)
          await putBack(sim, older)
          for (let attempt = 0; attempt < 6; attempt++) {
            expect(await refusal(sim)).toEqual({ code: 'MR_CLUSTER_METADATA_OLDER', details: { topic: 'orders', partition: 0, found: lives, known: 0, logs: 1 } })
          }
          await putBack(sim, newest)
          await sim.start()
          await produce(sim, 'last')
          expect(await values(sim, lives + 2)).toEqual([...wanted, 'last'])
        })
      })
    }
  }
})

describe('metadata that are the newest', () => {
  it('are never taken for older ones, wherever a life that raises the epochs and writes in them is ended, killed or by a power cut', async () => {
    let steps = 0
    for (let step = 1; ; step++) {
      const sim = await createSimBroker({ seed: step })
      const passed = await sim.run(async () => {
        await sim.start()
        await using client = sim.client()
        await client.admin().createTopics([{ name: 'orders', partitions: 1 }])
        await produce(sim, 'first')
        await sim.stop()
        const point = crashAt(sim, step, () => { if (step % 2 === 0) sim.kill(); else sim.powerCut() })
        const life = async (): Promise<boolean> => {
          await sim.start()
          await produce(sim, 'second')
          return true
        }
        const lived = await Promise.race([life(), point.crashed.then(() => false)])
        if (lived) return true
        await sim.start()
        await produce(sim, 'third')
        expect((await values(sim, 2))[0]).toBe('first')
        return false
      })
      if (passed) break
      steps++
    }
    expect(steps).toBeGreaterThan(30)
  })
})
