import { type Uuid } from '../../../../kernel/model/ids.ts'
import { crc32c } from '../../../../base/crc32c.ts'
import { javaHash } from '../group-partition.ts'
import { nothingAssigned } from './assigned.ts'
import { type ConsumerGroup } from './consumer-group.ts'
import { type ConsumerTurn } from './consumer-turn.ts'
import { assignRange } from './range-assignor.ts'
import { type TopicDirectory } from './topic-directory.ts'
import { assignUniform, type Assignor, type AssignorMember } from './uniform-assignor.ts'

/** By the names that clients ask for. */
export const assignors: ReadonlyMap<string, Assignor> = new Map([['uniform', assignUniform], ['range', assignRange]])

/** Begins an epoch where the members' subscriptions have changed, or the topics that they read. Then the targets follow. */
export function follow(turn: ConsumerTurn, reason: string | undefined): void {
  const { group, topics } = turn
  if (reason !== undefined || group.checkedVersion !== topics.version) {
    const hash = metadataHash(group.subscriptions(topics).present, topics)
    if (reason !== undefined) turn.bump(reason)
    else if (hash !== group.metadataHash) turn.bump('the topics that it reads have changed')
    group.metadataHash = hash
    group.checkedVersion = topics.version
  }
  assign(turn)
}

/** Computes the targets of a new epoch; not again before the interval has passed, but then by itself. */
export function assign(turn: ConsumerTurn): void {
  const { group, now, rules } = turn
  if (group.epoch <= group.assignmentEpoch) {
    group.assignDeadlineMs = Infinity
    return
  }
  const earliestMs = group.assignedJudgedMs + rules.consumer.assignmentIntervalMs
  if (now.judgedMs < earliestMs) {
    group.assignDeadlineMs = earliestMs
    return
  }
  group.targets = targetsOf(turn)
  group.assignmentEpoch = group.epoch
  group.assignedAtMs = now.wallMs
  group.assignedJudgedMs = now.judgedMs
  group.assignDeadlineMs = Infinity
}

function targetsOf({ group, topics, rules }: ConsumerTurn): ConsumerGroup['targets'] {
  const subscriptions = group.subscriptions(topics)
  const partitions = new Map<Uuid, number>()
  const members = Array.from(group.members.values(), ({ about }): AssignorMember => {
    const topicIds: Uuid[] = []
    for (const name of subscriptions.presentOf(about.memberId)) {
      const topic = topics.byName(name)
      if (topic === undefined) continue
      topicIds.push(topic.id)
      partitions.set(topic.id, topic.partitions)
    }
    return { memberId: about.memberId, instanceId: about.instanceId, topicIds, last: group.targets.get(about.memberId) ?? nothingAssigned }
  })
  return assignors.get(assignorOf(group, rules.consumer.assignors))!(members, partitions)
}

/** The one that most members ask for; the first that is served where nobody asks. */
export function assignorOf({ members }: ConsumerGroup, served: readonly string[]): string {
  const votes = new Map<string, number>()
  for (const { about: { serverAssignor } } of members.values()) if (serverAssignor !== null && served.includes(serverAssignor)) votes.set(serverAssignor, (votes.get(serverAssignor) ?? 0) + 1)
  let best = served[0]!
  for (const [name, count] of votes) if (count > (votes.get(best) ?? 0)) best = name
  return best
}

const text = new TextEncoder()

/** Of the topics that are there, with their ids and numbers of partitions: what targets rest on. Another one after a change, but for chances of 1 in 2^60. */
export function metadataHash(names: Iterable<string>, topics: TopicDirectory): number {
  const lines: string[] = []
  for (const name of names) {
    const topic = topics.byName(name)
    if (topic !== undefined) lines.push(`${name} ${topic.id} ${topic.partitions}`)
  }
  if (lines.length === 0) return 0
  const all = lines.sort().join('\n')
  const view = new DataView(new ArrayBuffer(8))
  // Two bits are left out, so that it is a number and not infinite: it is kept as one.
  view.setUint32(0, javaHash(all) & 0x3fff_ffff)
  view.setUint32(4, crc32c(text.encode(all)))
  return view.getFloat64(0)
}
