import { type Prng } from '../../../src/base/prng.ts'
import { deleteRecordsApi, kafkaErrors, listOffsetsApi } from '../../../src/wire/index.ts'
import { type RawClient } from './raw-client.ts'
import { type Operation, type Stage } from './stage.ts'
import { keyOf } from './topics.ts'

const mayPass: readonly number[] = [
  kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, kafkaErrors.NOT_LEADER_OR_FOLLOWER, kafkaErrors.LEADER_NOT_AVAILABLE, kafkaErrors.REQUEST_TIMED_OUT,
  // Two who delete: one goes further than the other has asked.
  kafkaErrors.OFFSET_OUT_OF_RANGE,
]
const [earliest, latest] = [-2, -1]

/** Deletes the first records of logs, some or all that there are. */
export class RecordsDeleter {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly client: RawClient
  private readonly prng: Prng

  constructor(stage: Stage, client: RawClient, prng: Prng) {
    this.stage = stage
    this.client = client
    this.prng = prng
    this.operations = [{ name: 'delete records', weight: 3, run: () => this.delete() }]
  }

  private async delete(): Promise<void> {
    const { stage, prng } = this
    const place = stage.topics.pickPlace(prng)
    // What is only compacted is not deleted by offset: the broker refuses it, as Kafka does.
    if (place === undefined || place.topic.compacted === true) return
    const [start, end] = [await this.locate(place.topic.name, place.partition, earliest), await this.locate(place.topic.name, place.partition, latest)]
    if (start === undefined || end === undefined || place.topic.doomed || end <= start) return
    const offset = prng.chance(0.2) ? end : prng.between(start, end)
    const partition = keyOf(place)
    stage.history.add({ kind: 'deleting', partition, offset })
    place.topic.deletesRecords = true
    const response = await this.client.ask(deleteRecordsApi, 0, 2, () => ({ topics: [{ name: place.topic.name, partitions: [{ partitionIndex: place.partition, offset }] }], timeoutMs: 3000 }))
    const { errorCode, lowWatermark } = response.topics[0]!.partitions[0]!
    if (errorCode !== kafkaErrors.NONE) return stage.refused('delete records', errorCode, mayPass)
    stage.count('delete records: done')
    if (place.topic.doomed || keyOf(place) !== partition) return
    stage.history.add({ kind: 'records deleted', partition, lowWatermark })
    stage.recordsDeleted += Math.max(0, offset - start)
  }

  private async locate(name: string, partitionIndex: number, timestamp: number): Promise<number | undefined> {
    const response = await this.client.ask(listOffsetsApi, 1, 9, () => ({ replicaId: -1, topics: [{ name, partitions: [{ partitionIndex, timestamp }] }] }))
    const { errorCode, offset } = response.topics[0]!.partitions[0]!
    if (errorCode === kafkaErrors.NONE) return offset
    this.stage.refused('delete records, list offsets', errorCode, mayPass)
    return undefined
  }
}
