import type { Admin, TopicDescription } from '../client/index.ts'
import { damagedOffsetsName, parseDamagedOffsets } from '../kernel/config/damaged-offsets.ts'
import { isMillraceError } from '../kernel/errors/index.ts'
import { describeConfigsApi } from '../wire/index.ts'

/** Offsets that a broker found damaged on its disk, and does not serve. */
export interface DamagedOffsets {
  readonly topic: string
  readonly partition: number
  readonly broker: number
  readonly first: number
  readonly last: number
}

/** The arrays of one request may have so many elements at a broker of ours. */
const topicsMax = 5_000

/** What the brokers know of damage to these topics. One that does not answer tells nothing: it is missed in the rest of the report. An Apache Kafka has no such setting. */
export async function damageOf(admin: Admin, topics: readonly TopicDescription[]): Promise<DamagedOffsets[]> {
  const holders = new Map<number, string[]>()
  for (const { name, partitions } of topics) {
    for (const broker of new Set(partitions.flatMap(({ replicas, offlineReplicas }) => replicas.filter((id) => !offlineReplicas.includes(id))))) {
      holders.set(broker, [...holders.get(broker) ?? [], name])
    }
  }
  const found = await Promise.all([...holders].map(([broker, names]) => damageOn(admin, broker, names)))
  return found.flat().sort((one, other) => (one.topic === other.topic ? one.partition - other.partition || one.first - other.first : one.topic < other.topic ? -1 : 1))
}

async function damageOn(admin: Admin, broker: number, names: readonly string[]): Promise<DamagedOffsets[]> {
  const damaged: DamagedOffsets[] = []
  try {
    for (let at = 0; at < names.length; at += topicsMax) {
      const resources = names.slice(at, at + topicsMax).map((name) => ({ resourceType: 2, resourceName: name, configurationKeys: [damagedOffsetsName] }))
      damaged.push(...await admin.ask({ nodeId: broker }, describeConfigsApi, () => ({ resources }), (response) => response.results.flatMap(({ resourceName, configs }) =>
        configs.filter(({ name }) => name === damagedOffsetsName).flatMap(({ value }) => parseDamagedOffsets(value ?? ''))
          .flatMap(({ partition, ranges }) => ranges.map(({ first, last }) => ({ topic: resourceName, partition, broker, first, last })))), {}))
    }
  } catch (error) {
    if (!isMillraceError(error)) throw error
  }
  return damaged
}

export const damageLine = ({ topic, partition, broker, first, last }: DamagedOffsets): string =>
  `${topic}-${partition}: ${first === last ? `offset ${first} is` : `offsets ${first} to ${last} are`} damaged on the disk of broker ${broker} and not served; its log names the file and what to do`
