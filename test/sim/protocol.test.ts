import { describe, expect, it } from 'vitest'
import { createSimBroker, type SimBroker } from '../../src/harness/index.ts'
import { baseOffsetOf, baseSequenceOf, batchBytesOf, producerIdOf } from '../../src/kernel/record/batch-header.ts'
import { type Socket, type SocketHandler } from '../../src/kernel/ports/network.ts'
import { createTopicsApi, fetchApi, initProducerIdApi, metadataApi, produceApi } from '../../src/wire/messages/index.ts'
import { batchOf } from '../unit/plugins/protocol-kafka/fixture/batches.ts'
import { fetch, produce } from '../unit/plugins/protocol-kafka/fixture/requests.ts'
import { type ClientEnd, TestClient } from '../unit/plugins/protocol-kafka/fixture/test-client.ts'

/** A connection over the simulated network. */
class SimEnd implements ClientEnd, SocketHandler {
  readonly socket: Socket
  readonly gone: Promise<'gone'>
  onWrite: ((bytes: Uint8Array) => void) | undefined
  private tellGone!: () => void

  constructor(socket: Socket) {
    this.socket = socket
    this.gone = new Promise((resolve) => { this.tellGone = () => { resolve('gone') } })
    socket.open(this)
  }

  give(bytes: Uint8Array): void {
    this.socket.write([bytes])
  }

  data(bytes: Uint8Array, offset: number, length: number): void {
    this.onWrite?.(bytes.slice(offset, offset + length))
  }

  closed(): void {
    this.tellGone()
  }
}

async function connect(sim: SimBroker, from: string): Promise<TestClient<SimEnd>> {
  for (;;) {
    try {
      return new TestClient(new SimEnd(await sim.world.machine(from).process.network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 1000 })))
    } catch {
      await sim.world.sleep(50)
    }
  }
}

interface Acknowledged {
  readonly producerId: number
  /** Offset by sequence number. */
  readonly offsets: number[]
}

/** An idempotent producer with five batches in flight, which begins anew where it was not answered whenever its connection breaks. */
async function produceAll(sim: SimBroker, name: string, count: number): Promise<Acknowledged> {
  let client = await connect(sim, name)
  const asked = await Promise.race([client.call(initProducerIdApi, 4, { transactionalId: null, transactionTimeoutMs: 1000 }), client.socket.gone])
  if (asked === 'gone') return produceAll(sim, name, count)
  const { producerId } = asked
  const offsets: number[] = []
  while (offsets.length < count) {
    const first = offsets.length
    const window = Array.from({ length: Math.min(5, count - first) }, (_, index) => first + index)
    const answers = window.map((sequence) => client.call(produceApi, 9,
      produce('t', batchOf([`${name} ${sequence}`], { producerId, producerEpoch: 0, baseSequence: sequence }), { acks: -1, timeoutMs: 20_000 })))
    // Ready before those that wait for the disk, and not to be sent before them.
    void client.call(metadataApi, 1, { topics: [] })
    for (const answer of answers) {
      const outcome = await Promise.race([answer, client.socket.gone])
      if (outcome === 'gone') break
      const { errorCode, baseOffset } = outcome.responses[0]!.partitionResponses[0]!
      expect(errorCode).toBe(0)
      offsets.push(baseOffset)
    }
    if (offsets.length < first + window.length) client = await connect(sim, name)
  }
  client.socket.socket.destroy()
  return { producerId, offsets }
}

/** Half requests, bytes that are none, polls that nobody waits for, and sudden ends. */
async function disturb(sim: SimBroker, rounds: number): Promise<void> {
  const { prng } = sim.world
  for (let round = 0; round < rounds; round++) {
    await sim.world.sleep(prng.between(5, 120))
    switch (prng.below(6)) {
      case 0: sim.world.network.reset('broker', `producer-${prng.below(3)}`); break
      case 1: sim.machine.pause(prng.between(10, 4000)); break
      default: {
        const bad = await connect(sim, 'hostile')
        const { bytes } = bad.frame(fetchApi, 12, fetch('t', [0], { maxWaitMs: 500, minBytes: 1_000_000 }))
        bad.socket.give(prng.pick([bytes, bytes.subarray(0, prng.below(bytes.length)), prng.bytes(200), new Uint8Array([0, 50, 0, 0, 1])]))
        if (prng.below(2) === 0) bad.socket.socket.destroy()
        else void sim.world.sleep(prng.between(1, 300)).then(() => { bad.socket.socket.end() })
      }
    }
  }
}

/** Every batch of the partition as `producer:sequence`, at its offset. */
async function readLog(sim: SimBroker): Promise<string[]> {
  const client = await connect(sim, 'reader')
  const found: string[] = []
  for (;;) {
    const { records, highWatermark } = (await client.call(fetchApi, 12, fetch('t', [found.length]))).responses[0]!.partitions[0]!
    for (let at = 0; at < records!.length; at += batchBytesOf(records!, at)) found[baseOffsetOf(records!, at)] = `${producerIdOf(records!, at)}:${baseSequenceOf(records!, at)}`
    if (found.length >= highWatermark) break
  }
  client.socket.socket.destroy()
  return found
}

async function story(seed: number): Promise<{ readonly digest: string, readonly severe: readonly string[] }> {
  const sim = await createSimBroker({ seed, options: { preset: 'single-node' } })
  await sim.run(async () => {
    await sim.start()
    const admin = await connect(sim, 'admin')
    await admin.call(createTopicsApi, 7, { topics: [{ name: 't', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }], timeoutMs: 1000 })
    const [, ...producers] = await Promise.all([disturb(sim, 60), ...[0, 1, 2].map((index) => produceAll(sim, `producer-${index}`, 100))])
    const log = await readLog(sim)
    // Each batch once, each producer's in its order, each where its acknowledgement said.
    expect(log).toHaveLength(300)
    for (const { producerId, offsets } of producers) {
      expect(offsets).toEqual([...offsets].sort((left, right) => left - right))
      expect(offsets.map((offset) => log[offset])).toEqual(offsets.map((_, sequence) => `${producerId}:${sequence}`))
    }
    // It still serves, and what was half done is forgotten.
    expect((await admin.call(metadataApi, 1, { topics: [] })).brokers).toHaveLength(1)
    admin.socket.socket.destroy()
    await sim.world.sleep(10_000)
    expect(sim.world.network.openConnections).toBe(0)
    await sim.stop()
  })
  return { digest: sim.world.digest(), severe: sim.logLines.filter((line) => !/"level":"(debug|info)"/.test(line)) }
}

describe('connections under faults', () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    it(`with resets, stalls and hostile peers, every acknowledged batch is there once and in order (seed ${seed})`, async () => {
      const { severe } = await story(seed)
      expect(severe).toEqual([])
    })
  }

  it('two runs of one seed are equal', async () => {
    expect((await story(9)).digest).toBe((await story(9)).digest)
  })
})
