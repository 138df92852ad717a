import type { Admin, TopicDescription } from '../client/index.ts'
import { isMillraceError } from '../kernel/errors/index.ts'
import { describeConfigsApi } from '../wire/index.ts'

/** What a broker tells of its replicas of a topic, in the name of a setting: see `kernel/config/damaged-offsets`. */
export interface ToldByBroker {
  readonly topic: string
  readonly broker: number
  readonly value: string
}

/** The arrays of one request may have so many elements at a broker of ours. */
const topicsMax = 5_000

/** Asks every broker that serves a replica of these topics. One that does not answer tells nothing: it is missed in the rest of the report. An Apache Kafka has no such setting. */
export async function toldByBrokers(admin: Admin, topics: readonly TopicDescription[], setting: string): Promise<ToldByBroker[]> {
  const holders = new Map<number, string[]>()
  for (const { name, partitions } of topics) {
    for (const broker of new Set(partitions.flatMap(({ replicas, offlineReplicas }) => replicas.filter((id) => !offlineReplicas.includes(id))))) {
      holders.set(broker, [...holders.get(broker) ?? [], name])
    }
  }
  const found = await Promise.all([...holders].map(([broker, names]) => toldBy(admin, broker, names, setting)))
  return found.flat()
}

async function toldBy(admin: Admin, broker: number, names: readonly string[], setting: string): Promise<ToldByBroker[]> {
  const told: ToldByBroker[] = []
  try {
    for (let at = 0; at < names.length; at += topicsMax) {
      const resources = names.slice(at, at + topicsMax).map((name) => ({ resourceType: 2, resourceName: name, configurationKeys: [setting] }))
      told.push(...await admin.ask({ nodeId: broker }, describeConfigsApi, () => ({ resources }), (response) => response.results.flatMap(({ resourceName, configs }) =>
        configs.filter(({ name }) => name === setting).map(({ value }) => ({ topic: resourceName, broker, value: value ?? '' }))), {}))
    }
  } catch (error) {
    if (!isMillraceError(error)) throw error
  }
  return told
}
