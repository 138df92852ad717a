import { emptyAssignment, inOrder, wantedTopics, type Assignor } from './assignor.ts'

/**
 * Each topic by itself: its partitions in a row, cut into as many pieces as there are members that want it, the first ones longer by one where they do not
 * come out even. Partitions of the same number go to the same member where topics have the same count and members.
 */
export const rangeAssignor: Assignor = {
  name: 'range',
  isCooperative: false,
  userData: () => null,
  assign(members, counts) {
    const assignment = emptyAssignment(members)
    const ordered = inOrder(members)
    for (const topic of wantedTopics(members, counts)) {
      const takers = ordered.filter(({ topics }) => topics.includes(topic))
      const count = counts.get(topic)!
      const share = Math.floor(count / takers.length)
      const longer = count % takers.length
      let next = 0
      for (const [index, { memberId }] of takers.entries()) {
        const end = next + share + (index < longer ? 1 : 0)
        for (; next < end; next++) assignment.get(memberId)!.push({ topic, partition: next })
      }
    }
    return assignment
  },
}
