import type { Admin, TopicDescription } from '../client/index.ts'
import { damagedOffsetsName, missingOffsetsName, parseDamagedOffsets } from '../kernel/config/damaged-offsets.ts'
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
export const damageOf = (admin: Admin, topics: readonly TopicDescription[]): Promise<DamagedOffsets[]> => rangesOf(admin, topics, damagedOffsetsName)

/** The same of records that a broker had before a power cut, and has not any more. */
export const missingOf = (admin: Admin, topics: readonly TopicDescription[]): Promise<DamagedOffsets[]> => rangesOf(admin, topics, missingOffsetsName)

async function rangesOf(admin: Admin, topics: readonly TopicDescription[], setting: string): Promise<DamagedOffsets[]> {
  const told = await toldByBrokers(admin, topics, setting)
  return told.flatMap(({ topic, broker, value }) => parseDamagedOffsets(value).flatMap(({ partition, ranges }) => ranges.map(({ first, last }) => ({ topic, partition, broker, first, last }))))
    .sort((one, other) => (one.topic === other.topic ? one.partition - other.partition || one.first - other.first : one.topic < other.topic ? -1 : 1))
}

export const missingLine = ({ topic, partition, broker, first, last }: DamagedOffsets): string =>
  `${topic}-${partition}: the records of ${first === last ? `offset ${first}` : `offsets ${first} to ${last}`} are missing on broker ${broker} since its start, and others are given these offsets; its log says what to do`

export const damageLine = ({ topic, partition, broker, first, last }: DamagedOffsets): string =>
  `${topic}-${partition}: ${first === last ? `offset ${first} is` : `offsets ${first} to ${last} are`} damaged on the disk of broker ${broker} and not served; its log names the file and what to do`
