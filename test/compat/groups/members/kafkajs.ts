import kafkajs, { type EachBatchPayload, type PartitionAssigner } from 'kafkajs'

import { type ConsumeOptions, say, sayCommitted, sayPartitions, sayRecord, serve, type ServedClient, type ServedMember } from './serve.ts'

const { AssignerProtocol, Kafka, logLevel, PartitionAssigners } = kafkajs

const connect = (bootstrap: string): InstanceType<typeof Kafka> =>
  new Kafka({ clientId: 'groups-kafkajs', brokers: [bootstrap], logLevel: logLevel.ERROR, retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 60 } })

/** Kafka's range under its own name, which kafkajs does not have: its one assignor has a name that nobody else knows. */
const range: PartitionAssigner = ({ cluster }) => ({
  name: 'range',
  version: 0,
  async assign ({ members, topics }) {
    const ids = members.map(({ memberId }) => memberId).sort()
    const shares = new Map(ids.map(id => [id, {} as Record<string, number[]>]))
    for (const topic of topics) {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId).sort((left, right) => left - right)
      for (const [index, id] of ids.entries()) {
        const each = Math.floor(partitions.length / ids.length)
        const more = partitions.length % ids.length
        const from = each * index + Math.min(index, more)
        shares.get(id)![topic] = partitions.slice(from, from + each + (index < more ? 1 : 0))
      }
    }
    return ids.map(memberId => ({ memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode({ version: 0, assignment: shares.get(memberId)!, userData: Buffer.alloc(0) }) }))
  },
  protocol: ({ topics }) => ({ name: 'range', metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }) }),
})

async function offsetsByTime ({ bootstrap, topic, fromMs }: ConsumeOptions): Promise<{ partition: number, offset: string }[]> {
  const admin = connect(bootstrap).admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, fromMs)
  await admin.disconnect()
  return offsets
}

async function consume (options: ConsumeOptions): Promise<ServedMember> {
  const { bootstrap, topic, group, assignor, commitsByHand } = options
  const owned = new Set<number>()
  const positions = new Map<number, number>()
  const consumer = connect(bootstrap).consumer({
    groupId: group, sessionTimeout: 15_000, heartbeatInterval: 300, maxWaitTimeInMs: 200, partitionAssigners: [assignor === undefined ? PartitionAssigners.roundRobin : range],
  })
  const give = (): void => {
    if (owned.size > 0) sayPartitions('partitions_revoked', owned)
    owned.clear()
  }
  consumer.on('consumer.rebalancing', give)
  consumer.on('consumer.group_join', ({ payload }) => {
    give()
    for (const partition of payload.memberAssignment[topic] ?? []) owned.add(partition)
    for (const partition of [...positions.keys()]) if (!owned.has(partition)) positions.delete(partition)
    sayPartitions('partitions_assigned', owned)
  })
  consumer.on('consumer.crash', ({ payload }) => { console.error(payload.error); give() })
  const commit = async (partitions: readonly number[]): Promise<unknown> => {
    const offsets = partitions.map(partition => ({ partition, offset: positions.get(partition)! }))
    return sayCommitted(offsets, () => consumer.commitOffsets(offsets.map(({ partition, offset }) => ({ topic, partition, offset: String(offset) }))))
  }
  const eachBatch = async ({ batch, resolveOffset, isRunning, isStale, heartbeat }: EachBatchPayload): Promise<void> => {
    for (const { offset } of batch.messages) {
      if (!isRunning() || isStale()) return
      sayRecord(batch.partition, Number(offset))
      positions.set(batch.partition, Number(offset) + 1)
      resolveOffset(offset)
    }
    const failure = commitsByHand ? undefined : await commit([batch.partition])
    if (failure !== undefined) throw failure as Error
    await heartbeat()
  }
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  const starts = options.fromMs === undefined ? [] : await offsetsByTime(options)
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch })
  for (const { partition, offset } of starts) consumer.seek({ topic, partition, offset })
  return {
    seek (partition, offset) {
      consumer.seek({ topic, partition, offset: String(offset) })
      positions.set(partition, offset)
      say('seeked', { partition, offset })
    },
    commit: async () => { await commit([...positions.keys()]) },
    async leave () {
      // From the call on nothing more is read, so that the partitions are given up before the group is left.
      const left = consumer.disconnect()
      give()
      await left
    },
  }
}

const client: ServedClient = {
  async createTopic (bootstrap, topic, numPartitions) {
    const admin = connect(bootstrap).admin()
    await admin.connect()
    await admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1 }], waitForLeaders: true })
    await admin.disconnect()
  },
  async producer (bootstrap, topic, partitions) {
    const producer = connect(bootstrap).producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
    await producer.connect()
    return {
      async send (value) {
        const answers = await producer.send({ topic, acks: -1, messages: Array.from({ length: partitions }, (_, partition) => ({ partition, value })) })
        return answers.map(({ partition, baseOffset }) => ({ partition, offset: Number(baseOffset) }))
      },
      close: () => producer.disconnect(),
    }
  },
  consume,
}

await serve(client, process.argv.slice(2))
