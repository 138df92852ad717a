import { type RecordDraft } from '../../../kernel/model/replay-machine.ts'
import { type GroupOffsets } from './group-offsets.ts'
import { offsetTombstone, type CommittedOffset } from './group-writer.ts'

/** Of one turn: a group, a member of it and an offset are a step each, a tombstone some more. A turn of this length takes about a millisecond or two. */
const stepsPerTurn = 5000
const stepsPerTombstone = 5
/** Offsets that a turn looks at whatever its steps: looking at a group of many members takes all of them. */
const offsetsPerTurnMin = 100
/** Milliseconds until the next turn: others have theirs in between. */
export const turnPauseMs = 1

/** Where a walk over the offsets of groups stands, by what there was when it came there: what came since is not looked at. Replaced, never changed. */
export interface WalkPlace {
  readonly groupIds: readonly string[]
  readonly group: number
  /** Of the group; undefined at its beginning. */
  readonly topics: readonly string[] | undefined
  readonly topic: number
  /** Of the topic; undefined at its beginning. */
  readonly partitions: readonly number[] | undefined
  readonly partition: number
}

/** How a group is looked at. */
export interface Visit {
  /** What looking costs beside its offsets, in steps. */
  readonly steps: number
  readonly topics: () => readonly string[]
  readonly isOver: (topic: string, offset: CommittedOffset) => boolean
  /** What is written when nothing but `left` offsets is left of it. */
  readonly end: (left: number) => readonly RecordDraft[]
}

export const walkFrom = (groupIds: readonly string[]): WalkPlace => ({ groupIds, group: 0, topics: undefined, topic: 0, partitions: undefined, partition: 0 })

/** Takes a walk on for one turn: the tombstones of what is over, and where it stands then; undefined at its end. A group that is not there any more has no visit. */
export function walkOn(place: WalkPlace, offsets: GroupOffsets, visitOf: (groupId: string) => Visit | undefined): { readonly records: RecordDraft[], readonly place: WalkPlace | undefined } {
  const turn = new WalkTurn(place, offsets)
  while (turn.steps > 0 && turn.groupId !== undefined) turn.visit(visitOf(turn.groupId))
  return { records: turn.records, place: turn.place }
}

class WalkTurn {
  readonly records: RecordDraft[] = []
  steps = stepsPerTurn
  private looked = 0
  private readonly offsets: GroupOffsets
  private readonly groupIds: readonly string[]
  private group: number
  private topics: readonly string[] | undefined
  private topic: number
  private partitions: readonly number[] | undefined
  private partition: number

  constructor({ groupIds, group, topics, topic, partitions, partition }: WalkPlace, offsets: GroupOffsets) {
    this.offsets = offsets
    this.groupIds = groupIds
    this.group = group
    this.topics = topics
    this.topic = topic
    this.partitions = partitions
    this.partition = partition
  }

  get groupId(): string | undefined {
    return this.groupIds[this.group]
  }

  get place(): WalkPlace | undefined {
    const { groupIds, group, topics, topic, partitions, partition } = this
    return group < groupIds.length ? { groupIds, group, topics, topic, partitions, partition } : undefined
  }

  /** As far as the steps go. */
  visit(visit: Visit | undefined): void {
    this.steps--
    if (visit === undefined) {
      this.nextGroup()
      return
    }
    this.steps -= visit.steps
    const before = this.records.length
    this.topics ??= visit.topics()
    for (; this.topic < this.topics.length; this.topic++) {
      this.visitTopic(this.topics[this.topic]!, visit)
      if (this.partitions !== undefined) return
    }
    this.records.push(...visit.end(this.offsets.countOf(this.groupId!) - (this.records.length - before)))
    this.nextGroup()
  }

  private visitTopic(topic: string, { isOver }: Visit): void {
    const groupId = this.groupId!
    this.partitions ??= this.offsets.partitionsOf(groupId, topic)
    this.steps--
    for (; this.partition < this.partitions.length; this.partition++) {
      if (this.steps <= 0 && this.looked >= offsetsPerTurnMin) return
      this.looked++
      const partition = this.partitions[this.partition]!
      const offset = this.offsets.get(groupId, topic, partition)
      this.steps--
      if (offset === undefined || !isOver(topic, offset)) continue
      this.records.push(offsetTombstone(groupId, topic, partition))
      this.steps -= stepsPerTombstone
    }
    this.partitions = undefined
    this.partition = 0
  }

  private nextGroup(): void {
    this.group++
    this.topics = undefined
    this.topic = 0
  }
}
