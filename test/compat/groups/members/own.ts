import { createClient, type GroupOptions } from '../../../../src/client/index.ts'
import { say, sayCommitted, sayPartitions, sayRecord, serve, type ServedClient } from './serve.ts'

/** millrace's own client, for groups that it shares with foreign ones. */
const client: ServedClient = {
  async createTopic (bootstrap, name, partitions) {
    const own = createClient({ bootstrap })
    await own.admin().createTopics([{ name, partitions, replicationFactor: 1 }])
    await own.close()
  },
  async producer (bootstrap, topic, partitions) {
    const own = createClient({ bootstrap })
    const producer = own.producer()
    return {
      async send (value) {
        const sent = await Promise.all(Array.from({ length: partitions }, (_, partition) => producer.send({ topic, partition, value })))
        return sent.map(({ partition, offset }) => ({ partition, offset }))
      },
      close: () => own.close(),
    }
  },
  async consume ({ bootstrap, topic, group, protocol, commitsByHand, assignor, fromMs }) {
    const own = createClient({ bootstrap })
    const assignors = assignor === undefined ? {} : { assignors: [assignor] as NonNullable<GroupOptions['assignors']> }
    const consumer = own.consumer({ groupId: group, groupProtocol: protocol, autoCommit: false, offsetReset: 'earliest', ...protocol === 'classic' ? { sessionTimeoutMs: 15_000, heartbeatIntervalMs: 300 } : {}, ...assignors })
    const positions = new Map<number, number>()
    const stopped = new AbortController()
    const gives = (name: string) => (partitions: readonly { partition: number }[]): void => {
      for (const { partition } of partitions) positions.delete(partition)
      sayPartitions(name, partitions.map(({ partition }) => partition))
    }
    const seek = (partition: number, offset: number): void => consumer.seek({ topic, partition, offset })
    consumer.subscribe([topic], {
      async onAssigned (partitions) {
        if (fromMs !== undefined) for (const { partition, offset } of await own.admin().listOffsets(partitions.map(each => ({ ...each, at: { timestamp: fromMs } })))) seek(partition, offset)
        sayPartitions('partitions_assigned', partitions.map(({ partition }) => partition))
      },
      onRevoked: gives('partitions_revoked'),
      onLost: gives('partitions_lost'),
    })
    const commit = async (): Promise<void> => {
      const offsets = [...positions].map(([partition, offset]) => ({ partition, offset }))
      if (offsets.length > 0) await sayCommitted(offsets, () => consumer.commit(offsets.map(each => ({ topic, ...each }))))
    }
    const commands: (() => Promise<void> | void)[] = []
    const run = async (): Promise<void> => {
      while (!stopped.signal.aborted) {
        for (const command of commands.splice(0)) await command()
        const records = await consumer.poll({ signal: stopped.signal, timeoutMs: 100 })
        for (const { partition, offset } of records) {
          sayRecord(partition, offset)
          positions.set(partition, offset + 1)
        }
        if (records.length > 0 && !commitsByHand) await commit()
      }
    }
    const running = run().catch((error: unknown) => { if (!stopped.signal.aborted) { console.error(error); process.exit(1) } })
    return {
      seek (partition, offset) {
        commands.push(() => {
          seek(partition, offset)
          positions.set(partition, offset)
          say('seeked', { partition, offset })
        })
      },
      commit: async () => { commands.push(commit) },
      async leave () {
        stopped.abort()
        await running
        await own.close()
      },
    }
  },
}

await serve(client, process.argv.slice(2))
