import { emptyAssignment, inOrder, wantedTopics, type Assignor } from './assignor.ts'

/** All partitions in a row, one for each member in turn; a member that does not want the topic is passed over. */
export const roundRobinAssignor: Assignor = {
  name: 'roundrobin',
  isCooperative: false,
  userData: () => null,
  assign(members, counts) {
    const assignment = emptyAssignment(members)
    const ordered = inOrder(members)
    let turn = 0
    for (const topic of wantedTopics(members, counts)) {
      for (let partition = 0; partition < counts.get(topic)!; partition++) {
        while (!ordered[turn % ordered.length]!.topics.includes(topic)) turn++
        assignment.get(ordered[turn++ % ordered.length]!.memberId)!.push({ topic, partition })
      }
    }
    return assignment
  },
}
