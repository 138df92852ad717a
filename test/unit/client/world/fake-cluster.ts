import { type Timers } from '../../../../src/kernel/ports/clock.ts'
import { type Network } from '../../../../src/kernel/ports/network.ts'
import { zeroUuid } from '../../../../src/base/uuid.ts'
import { kafkaErrors, type FetchRequest, type FetchResponse, type ProduceRequest } from '../../../../src/wire/index.ts'
import { FakeLog } from './fake-log.ts'
import { FakeNode, type Call } from './fake-node.ts'

export interface FakeTopic {
  id: string
  logs: FakeLog[]
}

/** What a broker does with a request instead of handling it. */
export type Deed =
  | { readonly respond: object }
  /** Handles it and closes the connection instead of answering. */
  | 'handle and close'
  /** Handles it and never answers. */
  | 'handle and swallow'
  | 'close'
  /** Never answers. */
  | 'swallow'

/** Looks at a request first; undefined lets it be handled as usual. */
export type Script = (call: Call) => Deed | undefined

export interface Span {
  readonly min: number
  readonly max: number
}

const kafkaLike: readonly (readonly [key: number, min: number, max: number])[] = [
  [0, 0, 13], [1, 4, 17], [2, 1, 9], [3, 0, 13], [10, 0, 6], [18, 0, 4], [19, 2, 7], [20, 1, 6], [21, 0, 2], [22, 0, 5], [23, 2, 4],
  [32, 1, 4], [37, 0, 3], [44, 0, 1], [60, 0, 2], [17, 0, 1], [36, 0, 2],
]

/** Brokers that keep topics in memory and answer as Kafka does, in a simulated world; a script may make them misbehave. */
export class FakeCluster {
  readonly nodes = new Map<number, FakeNode>()
  readonly topics = new Map<string, FakeTopic>()
  readonly versions = new Map<number, Span>(kafkaLike.map(([key, min, max]) => [key, { min, max }]))
  /** Requests in the order in which they arrived. */
  readonly calls: Call[] = []
  script: Script | undefined
  controllerId = 1
  createsTopics = false
  nextProducerId = 1000
  private nextTopic = 1
  private readonly fetches = new Set<() => boolean>()

  async start(nodeId: number, network: Network, timers: Timers): Promise<FakeNode> {
    const node = new FakeNode(nodeId, this, timers)
    await node.listen(network)
    this.nodes.set(nodeId, node)
    return node
  }

  addTopic(name: string, leaders: readonly number[]): FakeTopic {
    const topic = { id: `topic${String(this.nextTopic++).padStart(16, '0')}A`, logs: leaders.map(leaderId => new FakeLog(leaderId)) }
    this.topics.set(name, topic)
    return topic
  }

  log(topic: string, partition: number): FakeLog {
    return this.topics.get(topic)!.logs[partition]!
  }

  moveLeader(topic: string, partition: number, leaderId: number): void {
    const log = this.log(topic, partition)
    log.leaderId = leaderId
    log.leaderEpoch++
    this.wakeFetches()
  }

  callsOf(apiKey: number): Call[] {
    return this.calls.filter(call => call.api.key === apiKey)
  }

  metadata(names: readonly (string | null)[] | null, mayCreate: boolean): object {
    const asked = names ?? [...this.topics.keys()]
    if (mayCreate && this.createsTopics) {
      for (const name of asked) if (name !== null && !this.topics.has(name)) this.addTopic(name, [...this.nodes.keys()])
    }
    return {
      clusterId: 'fake', controllerId: this.controllerId,
      brokers: [...this.nodes.values()].map(({ id, port }) => ({ nodeId: id, host: `b${id}`, port })),
      topics: asked.map(name => {
        const topic = this.topics.get(name!)
        if (topic === undefined) return { errorCode: kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, name, partitions: [] }
        const partitions = topic.logs.map((log, partitionIndex) => ({
          errorCode: 0, partitionIndex, leaderId: log.leaderId, leaderEpoch: log.leaderEpoch, replicaNodes: [log.leaderId], isrNodes: [log.leaderId],
        }))
        return { errorCode: 0, name, topicId: topic.id, isInternal: false, partitions }
      }),
    }
  }

  produce(call: Call): object {
    const { topicData } = call.request as ProduceRequest
    const responses = topicData.map(({ name, topicId, partitionData }) => {
      const topic = this.find(name, topicId)
      return { name, topicId, partitionResponses: partitionData.map(({ index, records }) => {
        const log = topic?.logs[index]
        if (log === undefined) {
          return { index, errorCode: call.version >= 13 ? kafkaErrors.UNKNOWN_TOPIC_ID : kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION, baseOffset: -1 }
        }
        if (log.leaderId !== call.node.id) {
          return {
            index, errorCode: kafkaErrors.NOT_LEADER_OR_FOLLOWER, baseOffset: -1,
            ...(call.version >= 10 && this.namesLeaders ? { currentLeader: { leaderId: log.leaderId, leaderEpoch: log.leaderEpoch } } : {}),
          }
        }
        return { index, ...log.append(records!), logStartOffset: log.logStartOffset }
      }) }
    })
    this.wakeFetches()
    return { responses }
  }

  /** Whether answers name the new leader (KIP-951). */
  namesLeaders = true

  /** Answers now, or when something has come, or when the time is up. */
  fetch(call: Call, answer: (response: object) => void): void {
    const request = call.request as FetchRequest
    let answered = false
    const look = (isLate: boolean): boolean => {
      if (answered) return true
      const { response, bytes, hasError } = this.read(call, request)
      if (bytes < Math.max(1, request.minBytes) && request.minBytes > 0 && !hasError && !isLate) return false
      answered = true
      answer(response)
      return true
    }
    if (look(request.maxWaitMs === 0)) return
    const waiter = (): boolean => look(false)
    this.fetches.add(waiter)
    call.node.timers.after(request.maxWaitMs, () => {
      this.fetches.delete(waiter)
      look(true)
    })
  }

  wakeFetches(): void {
    for (const waiter of [...this.fetches]) if (waiter()) this.fetches.delete(waiter)
  }

  find(name: string, topicId: string): FakeTopic | undefined {
    return topicId === zeroUuid ? this.topics.get(name) : [...this.topics.values()].find(topic => topic.id === topicId)
  }

  private read(call: Call, request: FetchRequest): { response: object, bytes: number, hasError: boolean } {
    let bytes = 0
    let hasError = false
    const refuse = (partitionIndex: number, errorCode: number, log?: FakeLog): object => {
      hasError = true
      const currentLeader = log !== undefined && this.namesLeaders ? { currentLeader: { leaderId: log.leaderId, leaderEpoch: log.leaderEpoch } } : {}
      return { partitionIndex, errorCode, highWatermark: -1, records: new Uint8Array(0), ...currentLeader }
    }
    const responses = request.topics.map(({ topic: name, topicId, partitions }) => {
      const topic = this.find(name, topicId)
      return { topic: name, topicId, partitions: partitions.map(({ partition, fetchOffset, partitionMaxBytes, currentLeaderEpoch }) => {
        const log = topic?.logs[partition]
        if (log === undefined) return refuse(partition, call.version >= 13 ? kafkaErrors.UNKNOWN_TOPIC_ID : kafkaErrors.UNKNOWN_TOPIC_OR_PARTITION)
        if (log.leaderId !== call.node.id) return refuse(partition, kafkaErrors.NOT_LEADER_OR_FOLLOWER, log)
        if (currentLeaderEpoch >= 0 && currentLeaderEpoch !== log.leaderEpoch) {
          return refuse(partition, currentLeaderEpoch < log.leaderEpoch ? kafkaErrors.FENCED_LEADER_EPOCH : kafkaErrors.UNKNOWN_LEADER_EPOCH, log)
        }
        if (fetchOffset > log.endOffset || fetchOffset < log.logStartOffset) return refuse(partition, kafkaErrors.OFFSET_OUT_OF_RANGE)
        if (log.damagedOffsets.has(fetchOffset)) return refuse(partition, kafkaErrors.KAFKA_STORAGE_ERROR)
        const stable = log.lastStableOffset ?? log.endOffset
        const records = log.read(fetchOffset, partitionMaxBytes, request.isolationLevel === 1 ? stable : Infinity)
        bytes += records.length
        const answer: FetchResponse['responses'][number]['partitions'][number] | object = {
          partitionIndex: partition, errorCode: 0, highWatermark: log.endOffset, lastStableOffset: stable, logStartOffset: log.logStartOffset,
          abortedTransactions: request.isolationLevel === 1 ? log.aborted : null, records,
        }
        return answer
      }) }
    })
    return { response: { responses }, bytes, hasError }
  }
}
