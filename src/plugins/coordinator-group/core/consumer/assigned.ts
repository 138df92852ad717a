import { type Uuid } from '../../../../kernel/model/ids.ts'

/** Partitions by topic id: each list in order, without repetitions, never empty. Never changed. */
export type Assigned = ReadonlyMap<Uuid, readonly number[]>

export const nothingAssigned: Assigned = new Map()

/** From lists that may be in any order, repeat themselves, or be empty. */
export function assignedOf(lists: Iterable<{ readonly topicId: Uuid, readonly partitions: readonly number[] }>): Assigned {
  const sets = new Map<Uuid, Set<number>>()
  for (const { topicId, partitions } of lists) {
    const set = sets.get(topicId)
    if (set === undefined) sets.set(topicId, new Set(partitions))
    else for (const partition of partitions) set.add(partition)
  }
  const assigned = new Map<Uuid, number[]>()
  for (const [topicId, set] of sets) if (set.size > 0) assigned.set(topicId, [...set].sort((left, right) => left - right))
  return assigned
}

export const listsOf = (assigned: Assigned): { topicId: Uuid, partitions: readonly number[] }[] => Array.from(assigned, ([topicId, partitions]) => ({ topicId, partitions }))

export function countOf(assigned: Assigned): number {
  let count = 0
  for (const partitions of assigned.values()) count += partitions.length
  return count
}

/** Those of the first that are in the second. */
export const both = (left: Assigned, right: Assigned): Assigned => filtered(left, (topicId) => right.get(topicId), true)

/** Those of the first that are not in the second. */
export const without = (left: Assigned, right: Assigned): Assigned => filtered(left, (topicId) => right.get(topicId), false)

export function union(left: Assigned, right: Assigned): Assigned {
  if (right.size === 0) return left
  return left.size === 0 ? right : assignedOf([...listsOf(left), ...listsOf(right)])
}

/** Whether all of the first are in the second. */
export const isWithin = (left: Assigned, right: Assigned): boolean => without(left, right).size === 0

export function isSame(left: Assigned, right: Assigned): boolean {
  if (left === right) return true
  if (left.size !== right.size) return false
  for (const [topicId, partitions] of left) {
    const others = right.get(topicId)
    if (others?.length !== partitions.length || partitions.some((partition, index) => partition !== others[index])) return false
  }
  return true
}

/** Those that pass. */
export function those(assigned: Assigned, test: (topicId: Uuid, partition: number) => boolean): Assigned {
  const result = new Map<Uuid, readonly number[]>()
  for (const [topicId, partitions] of assigned) {
    const passed = partitions.filter((partition) => test(topicId, partition))
    if (passed.length > 0) result.set(topicId, passed)
  }
  return result
}

function filtered(left: Assigned, othersOf: (topicId: Uuid) => readonly number[] | undefined, isIn: boolean): Assigned {
  const result = new Map<Uuid, readonly number[]>()
  for (const [topicId, partitions] of left) {
    const others = new Set(othersOf(topicId))
    const passed = partitions.filter((partition) => others.has(partition) === isIn)
    if (passed.length > 0) result.set(topicId, passed)
  }
  return result
}
