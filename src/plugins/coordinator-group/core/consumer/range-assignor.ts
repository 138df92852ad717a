import { type Uuid } from '../../../../kernel/model/ids.ts'
import { type Assigned } from './assigned.ts'
import { type Assignor } from './uniform-assignor.ts'

/**
 * Kafka's `range`: of each topic by itself, everybody who reads it has a piece in a row, in the same order of members. So members that read the same topics
 * with the same number of partitions have the same numbers in all of them. The order is that of instance ids, then of member ids: it stays when others come and go.
 */
export const assignRange: Assignor = (members, partitions) => {
  const ordered = [...members].sort((left, right) => {
    if ((left.instanceId === null) !== (right.instanceId === null)) return left.instanceId === null ? 1 : -1
    return compare(left.instanceId ?? left.memberId, right.instanceId ?? right.memberId)
  })
  const readers = new Map<Uuid, string[]>()
  for (const { memberId, topicIds } of ordered) {
    for (const topicId of topicIds) {
      const of = readers.get(topicId)
      if (of === undefined) readers.set(topicId, [memberId])
      else of.push(memberId)
    }
  }
  const result = new Map<string, Map<Uuid, number[]>>(members.map(({ memberId }) => [memberId, new Map()]))
  for (const [topicId, of] of readers) {
    const count = partitions.get(topicId)!
    let next = 0
    of.forEach((memberId, index) => {
      const length = Math.floor(count / of.length) + (index < count % of.length ? 1 : 0)
      if (length > 0) result.get(memberId)!.set(topicId, Array.from({ length }, () => next++))
    })
  }
  return result satisfies Map<string, Assigned>
}

const compare = (left: string, right: string): number => left < right ? -1 : left > right ? 1 : 0
