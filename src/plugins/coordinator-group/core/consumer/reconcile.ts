import { both, isSame, isWithin, nothingAssigned, those, union, without, type Assigned } from './assigned.ts'
import { type ConsumerGroup, type ConsumerMember, type CurrentAssignment } from './consumer-group.ts'

/**
 * The next step of a member towards its target, for what it says to own; null where it does not say. What it holds beyond its target it gives up first,
 * in its epoch; then it comes to the epoch of the targets, and has of its target what nobody else has any more. The same object where there is no step.
 */
export function reconciled(group: ConsumerGroup, member: ConsumerMember, owned: Assigned | null): CurrentAssignment {
  const { current, about: { memberId } } = member
  if (current.state === 'stable' && current.epoch === group.assignmentEpoch) return current
  if (current.state === 'unrevoked' && holds(owned, current.revoking)) return current
  const target = group.targets.get(memberId) ?? nothingAssigned
  const kept = both(current.assigned, target)
  const revoking = without(current.assigned, target)
  if (revoking.size > 0 && holds(owned, revoking)) return step(current, { epoch: current.epoch, state: 'unrevoked', assigned: kept, revoking })
  const missing = without(target, kept)
  const free = those(missing, (topicId, partition) => (group.ownerOf(topicId, partition) ?? memberId) === memberId)
  const state = isSame(free, missing) ? 'stable' : 'unreleased'
  return step(current, { epoch: group.assignmentEpoch, state, assigned: union(kept, free), revoking: nothingAssigned })
}

/** Whether a member has any of these yet: who does not say has all. */
const holds = (owned: Assigned | null, partitions: Assigned): boolean => owned === null || !isWithin(partitions, without(partitions, owned))

function step(current: CurrentAssignment, next: Omit<CurrentAssignment, 'previousEpoch'>): CurrentAssignment {
  const isSameStep = current.epoch === next.epoch && current.state === next.state && isSame(current.assigned, next.assigned) && isSame(current.revoking, next.revoking)
  return isSameStep ? current : { ...next, previousEpoch: current.epoch }
}
