import type { Admin, TopicDescription } from '../client/index.ts'
import { damagedOffsetsName, parseDamagedOffsets } from '../kernel/config/damaged-offsets.ts'
import { toldByBrokers } from './told-by-brokers.ts'

/** Offsets that a broker found damaged on its disk, and does not serve. */
export interface DamagedOffsets {
  readonly topic: string
  readonly partition: number
  readonly broker: number
  readonly first: number
  readonly last: number
}

/** What the brokers know of damage to these topics. */
export async function damageOf(admin: Admin, topics: readonly TopicDescription[]): Promise<DamagedOffsets[]> {
  const told = await toldByBrokers(admin, topics, damagedOffsetsName)
  return told.flatMap(({ topic, broker, value }) => parseDamagedOffsets(value).flatMap(({ partition, ranges }) => ranges.map(({ first, last }) => ({ topic, partition, broker, first, last }))))
    .sort((one, other) => (one.topic === other.topic ? one.partition - other.partition || one.first - other.first : one.topic < other.topic ? -1 : 1))
}

export const damageLine = ({ topic, partition, broker, first, last }: DamagedOffsets): string =>
  `${topic}-${partition}: ${first === last ? `offset ${first} is` : `offsets ${first} to ${last} are`} damaged on the disk of broker ${broker} and not served; its log names the file and what to do`
