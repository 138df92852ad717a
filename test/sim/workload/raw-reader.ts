import { type Prng } from '../../../src/base/prng.ts'
import { zeroUuid } from '../../../src/base/uuid.ts'
import { type ClientWorld } from '../../../src/client/index.ts'
import { type Socket } from '../../../src/kernel/ports/network.ts'
import { testEpochMs } from '../../../src/testkit/world/manual-clock.ts'
import { BytesWriter, fetchApi, kafkaErrors, listOffsetsApi, metadataApi, writeRequestFrame } from '../../../src/wire/index.ts'
import { seenIn } from './batches-seen.ts'
import { type RawClient } from './raw-client.ts'
import { type Operation, type Stage } from './stage.ts'
import { keyOf, type Place } from './topics.ts'

interface Fetch {
  readonly place: Place
  readonly fetchOffset: number
  readonly maxWaitMs: number
  readonly minBytes: number
  readonly maxBytes: number
  readonly partitionMaxBytes: number
  readonly isolationLevel: 0 | 1
}

const mayPass: readonly number[] = [
  kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, kafkaErrors.UNKNOWN_TOPIC_ID, kafkaErrors.NOT_LEADER_OR_FOLLOWER, kafkaErrors.LEADER_NOT_AVAILABLE,
]
const [earliest, latest, newest] = [-2, -1, -3]

/** Fetch and ListOffsets in every version, with limits by chance; and a reader that does not read. */
export class RawReader {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly client: RawClient
  private readonly world: ClientWorld
  private readonly prng: Prng
  /** The last high watermark seen of each partition. */
  private readonly ends = new Map<string, number>()

  constructor(stage: Stage, client: RawClient, world: ClientWorld, prng: Prng) {
    this.stage = stage
    this.client = client
    this.world = world
    this.prng = prng
    this.operations = [
      { name: 'raw fetch', weight: 16, run: () => this.fetchSomewhere() },
      { name: 'raw long poll', weight: 6, run: () => this.longPoll() },
      { name: 'raw list offsets', weight: 8, run: () => this.listOffsets() },
      { name: 'raw slow reader', weight: 1, run: () => this.readSlowly() },
      { name: 'raw reconnect', weight: 2, run: () => Promise.resolve(client.reconnect()) },
    ]
  }

  private async fetchSomewhere(): Promise<void> {
    const { prng } = this
    const place = this.stage.topics.pickPlace(prng)
    if (place === undefined) return
    const end = this.ends.get(keyOf(place)) ?? 5
    await this.fetch({
      place, fetchOffset: Math.max(0, prng.between(-2, end + 3)), maxWaitMs: prng.pick([0, 0, 30]), minBytes: prng.pick([0, 1, 5000]),
      maxBytes: prng.pick([1, 4000, 1_000_000]), partitionMaxBytes: prng.pick([1, 500, 20_000, 1_000_000]), isolationLevel: prng.pick([0, 1] as const),
    })
  }

  private async longPoll(): Promise<void> {
    const { prng } = this
    const place = this.stage.topics.pickPlace(prng)
    if (place === undefined) return
    await this.fetch({
      place, fetchOffset: this.ends.get(keyOf(place)) ?? 0, maxWaitMs: prng.between(50, 2000), minBytes: prng.pick([1, 1, 300]),
      maxBytes: 1_000_000, partitionMaxBytes: 1_000_000, isolationLevel: prng.pick([0, 1] as const),
    })
  }

  private async fetch(fetch: Fetch): Promise<void> {
    const { stage } = this
    const { topic, partition } = fetch.place
    const begun = stage.history.now
    const response = await this.client.ask(fetchApi, 4, 16, () => fetchRequest(fetch))
    const answer = response.responses[0]!.partitions[0]!
    if (answer.errorCode !== kafkaErrors.NONE) return stage.refused('raw fetch', answer.errorCode, [...mayPass, kafkaErrors.OFFSET_OUT_OF_RANGE])
    if (topic.doomed) return
    const { records } = seenIn(answer.records, this.world.compression)
    const { highWatermark, lastStableOffset, logStartOffset } = answer
    this.ends.set(keyOf({ topic, partition }), highWatermark)
    stage.count(records.length > 0 ? 'raw fetch: with records' : 'raw fetch: empty')
    stage.history.add({
      kind: 'fetched', partition: keyOf(fetch.place), begun, isolation: fetch.isolationLevel === 1 ? 'read_committed' : 'read_uncommitted',
      highWatermark, lastStableOffset, logStartOffset, records,
    })
  }

  private async listOffsets(): Promise<void> {
    const { stage, prng } = this
    const place = stage.topics.pickPlace(prng)
    if (place === undefined) return
    const time = Math.floor(testEpochMs + stage.sim.world.nowMs) - prng.below(5000)
    const wanted = prng.pick([earliest, latest, latest, newest, time, time])
    const isolationLevel = prng.pick([0, 1])
    const begun = stage.history.now
    const response = await this.client.ask(listOffsetsApi, wanted === newest ? 7 : 1, 9, version => ({
      replicaId: -1, ...(version >= 2 ? { isolationLevel } : {}),
      topics: [{ name: place.topic.name, partitions: [{ partitionIndex: place.partition, timestamp: wanted }] }], ...(version >= 10 ? { timeoutMs: 1000 } : {}),
    }))
    const { errorCode, offset, timestamp } = response.topics[0]!.partitions[0]!
    if (errorCode !== kafkaErrors.NONE) return stage.refused('raw list offsets', errorCode, mayPass)
    if (place.topic.doomed) return
    const partition = keyOf(place)
    if (wanted === earliest) stage.history.add({ kind: 'edge', partition, begun, end: 'start', offset })
    else if (wanted === latest) stage.history.add({ kind: 'edge', partition, begun, end: 'high watermark', offset })
    else stage.history.add({ kind: 'located', partition, wanted: wanted === newest ? 'max' : wanted, offset, timestamp })
  }

  /** Asks for much, over and over, and takes nothing of it for a while; then takes some, and goes away. */
  private async readSlowly(): Promise<void> {
    const { stage, prng, world } = this
    const { network } = world
    const socket = await network.connect({ host: 'broker', port: 9092 }, { timeoutMs: 2000 })
    let received = 0
    socket.open({ data: (_bytes, _offset, length) => { received += length }, closed: () => undefined })
    socket.pause()
    for (let correlationId = 0; correlationId < 30; correlationId++) {
      const place = stage.topics.pickPlace(prng)
      if (place === undefined) break
      sendFetch(socket, correlationId, { place, fetchOffset: 0, maxWaitMs: 0, minBytes: 0, maxBytes: 1_000_000, partitionMaxBytes: 1_000_000, isolationLevel: 0 })
    }
    socket.write([metadataFrame()])
    await stage.sim.world.sleep(prng.float() * 3000)
    socket.resume()
    await stage.sim.world.sleep(prng.float() * 50)
    if (received > 0) stage.count('raw slow reader: got something')
    socket.destroy()
  }
}

function fetchRequest({ place: { topic, partition }, fetchOffset, maxWaitMs, minBytes, maxBytes, partitionMaxBytes, isolationLevel }: Fetch) {
  return {
    maxWaitMs, minBytes, maxBytes, isolationLevel,
    topics: [{ topic: topic.name, topicId: topic.id, partitions: [{ partition, fetchOffset, partitionMaxBytes }] }], forgottenTopicsData: [],
  }
}

function sendFetch(socket: Socket, correlationId: number, fetch: Fetch): void {
  const writer = new BytesWriter()
  writeRequestFrame(writer, fetchApi, { version: 11, correlationId, clientId: 'slow' }, fetchRequest(fetch))
  socket.write(writer.pieces())
}

function metadataFrame(): Uint8Array {
  const writer = new BytesWriter()
  writeRequestFrame(writer, metadataApi, { version: 12, correlationId: 99, clientId: 'slow' }, { topics: [{ name: 'nowhere', topicId: zeroUuid }], allowAutoTopicCreation: false })
  return writer.finish()
}
