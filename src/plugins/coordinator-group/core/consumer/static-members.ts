import { nothingAssigned } from './assigned.ts'
import { newMember, type ConsumerGroup } from './consumer-group.ts'

/** A static member under another id: it goes on with what its former self had, which is not heard any more. It is in no epoch yet. */
export function replaceStatic(group: ConsumerGroup, formerId: string, memberId: string): void {
  const former = group.members.get(formerId)!
  const target = group.targets.get(formerId)
  group.remove(formerId)
  const member = newMember({ ...former.about, memberId })
  // What the former self was still to give up, it has given up by stopping.
  group.put({ ...member, current: { ...member.current, assigned: former.current.assigned, revoking: nothingAssigned } })
  if (target !== undefined) group.targets.set(memberId, target)
}
