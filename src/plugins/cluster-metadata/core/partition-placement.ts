import { MillraceError } from '../../../kernel/errors/millrace-error.ts'

/** Brokers of one partition, the preferred leader first. */
export type Replicas = readonly number[]

/**
 * Spreads partitions over brokers: leaders go around, beginning at `start`, and the further replicas of a partition are the brokers that
 * follow. Racks are not looked at. `replicationFactor` is at most the number of brokers.
 */
export function placePartitions(brokers: readonly number[], partitions: number, replicationFactor: number, start: number): Replicas[] {
  return Array.from({ length: partitions }, (_, partition) =>
    Array.from({ length: replicationFactor }, (_, replica) => brokers[(start + partition + replica) % brokers.length]!))
}

/** Refuses an assignment that cannot be carried out, with MR_TOPIC_ASSIGNMENT_INVALID. `first`: the number of its first partition; `factor`: how many replicas each is to have. */
export function checkAssignment(topic: string, assignment: readonly Replicas[], usable: ReadonlySet<number>, first = 0, factor = assignment[0]?.length ?? 0): void {
  assignment.forEach((replicas, index) => {
    const reason = assignmentFault(replicas, factor, usable)
    if (reason !== undefined) throw new MillraceError('MR_TOPIC_ASSIGNMENT_INVALID', { topic, reason: `partition ${first + index} ${reason}` })
  })
}

function assignmentFault(replicas: Replicas, factor: number, usable: ReadonlySet<number>): string | undefined {
  if (replicas.length === 0) return 'has no replica'
  if (replicas.length !== factor) return `has ${replicas.length} replicas and partition 0 has ${factor}`
  if (new Set(replicas).size !== replicas.length) return 'names a broker twice'
  const unknown = replicas.find((id) => !usable.has(id))
  return unknown === undefined ? undefined : `names broker ${unknown}, which is not registered`
}
