import { type ProduceResponse, type produceApi, type RequestDraftOf } from '../../wire/index.ts'
import { type ProducerBatch } from './producer-batch.ts'
import { type ProducerSettings } from './producer-settings.ts'

/** Versions from 13 on name topics by id alone: not for topics whose id is not known. */
export const newestByName = 12
/** From 12 on a transactional Produce would join the transaction; without transactions 11 and 12 are the same. */

export type PartitionAnswer = ProduceResponse['responses'][number]['partitionResponses'][number]

export interface BatchAnswer {
  readonly batch: ProducerBatch
  /** Undefined when the broker's answer does not speak of it. */
  readonly answer: PartitionAnswer | undefined
}

/** One request with these batches, of one broker; at most one a partition. */
export function produceRequest(batches: readonly ProducerBatch[], settings: ProducerSettings, timeoutMs: number): RequestDraftOf<typeof produceApi> {
  const topicData: { name: string, topicId: string, partitionData: { index: number, records: Uint8Array }[] }[] = []
  for (const batch of batches) {
    const { topic, index } = batch.partition
    let data = topicData.find(each => each.name === topic.name)
    if (data === undefined) {
      data = { name: topic.name, topicId: topic.info!.id, partitionData: [] }
      topicData.push(data)
    }
    data.partitionData.push({ index, records: batch.bytes! })
  }
  return { acks: settings.acks, timeoutMs, topicData }
}

/** The answer of each batch. `topicIds` are those that were sent, by name. */
export function answersOf(batches: readonly ProducerBatch[], response: ProduceResponse, byId: boolean, topicIds: ReadonlyMap<string, string>): BatchAnswer[] {
  const answers = new Map<string, PartitionAnswer>()
  for (const topic of response.responses) {
    for (const partition of topic.partitionResponses) answers.set(`${byId ? topic.topicId : topic.name}/${partition.index}`, partition)
  }
  return batches.map(batch => {
    const { topic, index } = batch.partition
    return { batch, answer: answers.get(`${byId ? topicIds.get(topic.name)! : topic.name}/${index}`) }
  })
}
