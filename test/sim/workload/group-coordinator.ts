import { TimerHeap } from '../../../src/base/timer-heap.ts'
import { type Prng } from '../../../src/base/prng.ts'
import { type Decision, type MachineTime, type RecordDraft } from '../../../src/kernel/model/replay-machine.ts'
import { ClassicGroup } from '../../../src/plugins/coordinator-group/core/classic-group.ts'
import { type GroupChange } from '../../../src/plugins/coordinator-group/core/group-change.ts'
import { type GroupCommand, type GroupReply, type GroupRules, type ReplyTo } from '../../../src/plugins/coordinator-group/core/group-commands.ts'
import { GroupMachine } from '../../../src/plugins/coordinator-group/core/group-machine.ts'
import { type FakeTopics } from '../../unit/plugins/coordinator-group/fake-topics.ts'
import { type GroupEvent } from '../checkers/group-histories.ts'

type Timeless<E> = E extends unknown ? Omit<E, 'atMs'> : never
export type GroupStep = Timeless<GroupEvent>

/** What a decision has told, which counts when it is committed. */
interface Staged {
  readonly offset: number
  /** It is so whatever becomes of the log. */
  readonly isSo: boolean
  readonly events: readonly GroupEvent[]
  readonly deliver: () => void
}

/** A clock that goes from one thing to do to the next. */
export class VirtualTime {
  nowMs = 0
  private readonly todo = new TimerHeap<() => void>()

  after(delayMs: number, work: () => void): void {
    this.todo.add(this.nowMs + Math.max(0, delayMs), work)
  }

  runUntil(endMs: number): void {
    for (let next = this.todo.popDue(endMs); next !== undefined; next = this.todo.popDue(endMs)) {
      this.nowMs = Math.max(this.nowMs, next.deadlineMs)
      next.value()
    }
    this.nowMs = endMs
  }
}

/** One group machine over a log whose end is not committed at once, and is lost in a crash. Keeps the history of what was decided and not lost. */
export class SimCoordinator {
  readonly history: GroupEvent[] = []
  machine: GroupMachine
  crashes = 0
  private readonly time: VirtualTime
  private readonly prng: Prng
  private readonly rules: GroupRules
  private readonly topics: FakeTopics
  private log: RecordDraft[] = []
  private committed = 0
  /** Behind the batches that are not committed: one is kept or lost as a whole. */
  private batchEnds: number[] = []
  private staged: Staged[] = []
  private askers = new Map<number, (reply: GroupReply) => readonly GroupStep[]>()
  private lastAsker = 0
  private flushing = false
  private ticksAtMs = Infinity
  private pending: GroupEvent[] = []

  constructor(time: VirtualTime, prng: Prng, rules: GroupRules, topics: FakeTopics) {
    this.time = time
    this.prng = prng
    this.rules = rules
    this.topics = topics
    this.machine = this.made()
  }

  /** `told` says what an answer is to the history; `done` gets it, if it is not lost. */
  submit<C extends GroupCommand>(command: C, told: (reply: ReplyTo<C>) => readonly GroupStep[], done: (reply: ReplyTo<C>) => void): void {
    const asker = ++this.lastAsker
    this.askers.set(asker, (reply) => {
      this.onCommit = () => { done(reply as ReplyTo<C>) }
      return told(reply as ReplyTo<C>)
    })
    this.carryOut(this.machine.decide(command, asker, this.now))
  }

  /** Something that is so whatever the coordinator does. */
  note(step: GroupStep): void {
    this.stage([{ ...step, atMs: this.time.nowMs } as GroupEvent], () => undefined, true)
  }

  /** The end of the log is lost as far as it is not committed, and everything that rests on it. */
  crash(): void {
    this.crashes++
    const kept = this.prng.pick([this.committed, ...this.batchEnds.filter((end) => end > this.committed)])
    this.batchEnds = []
    this.log.length = kept
    for (const { offset, isSo, events } of this.staged) if (isSo || offset <= kept) this.history.push(...events)
    const before = membersOf(this.machine)
    this.committed = kept
    this.staged = []
    this.askers.clear()
    this.machine = this.made()
    for (const { key, value } of this.log) this.machine.replay(key, value)
    this.ticksAtMs = Infinity
    const after = membersOf(this.machine)
    // Decision 9: who is in a rebalance of a classic group that a failover interrupts is out at once.
    if (this.machine.consumers.groups.size === 0) for (const member of before) if (!after.has(member)) this.history.push({ type: 'fenced', member, atMs: this.time.nowMs })
    this.carryOut(this.machine.loaded(this.now))
  }

  /** The same groups from the log, for comparison. */
  reloaded(): GroupMachine {
    const machine = new GroupMachine(this.rules, this.topics)
    for (const { key, value } of this.log) machine.replay(key, value)
    return machine
  }

  private onCommit: () => void = () => undefined

  private made(): GroupMachine {
    return new GroupMachine(this.rules, this.topics, {
      rebalancing: (group) => { if (group instanceof ClassicGroup) this.pending.push({ type: 'rebalance', atMs: this.time.nowMs }) },
      stable: () => undefined, emptied: () => undefined,
    })
  }

  private get now(): MachineTime {
    return { wallMs: 1_000_000 + this.time.nowMs, judgedMs: this.time.nowMs }
  }

  private carryOut({ records, changes, answers }: Decision<GroupChange, GroupReply>): void {
    for (const record of records) {
      this.log.push(record)
      this.machine.replay(record.key, record.value)
    }
    if (records.length > 0) this.batchEnds.push(this.log.length)
    for (const change of changes) this.machine.apply(change)
    if (this.pending.length > 0) this.stage(this.pending.splice(0), () => undefined)
    for (const { asker, reply } of answers) {
      const told = this.askers.get(asker)
      if (told === undefined) continue
      this.askers.delete(asker)
      const steps = told(reply)
      const deliver = this.onCommit
      this.stage(steps.map((step) => ({ ...step, atMs: this.time.nowMs }) as GroupEvent), deliver)
    }
    this.schedule()
  }

  private stage(events: readonly GroupEvent[], deliver: () => void, isSo = false): void {
    this.staged.push({ offset: this.log.length, isSo, events, deliver })
    if (this.flushing) return
    this.flushing = true
    this.time.after(this.prng.between(0, 15), () => { this.flush() })
  }

  private flush(): void {
    this.flushing = false
    this.committed = this.log.length
    this.batchEnds = []
    for (const { events, deliver } of this.staged.splice(0)) {
      this.history.push(...events)
      deliver()
    }
  }

  private schedule(): void {
    const atMs = this.machine.nextDeadlineMs
    if (atMs >= this.ticksAtMs || atMs === Infinity) return
    this.ticksAtMs = atMs
    this.time.after(atMs - this.time.nowMs, () => {
      if (this.ticksAtMs !== atMs) return
      this.ticksAtMs = Infinity
      for (let count = 0; count < 50 && this.machine.nextDeadlineMs <= this.time.nowMs; count++) this.carryOut(this.machine.due(this.now))
      this.schedule()
    })
  }
}

const membersOf = ({ groups, consumers }: GroupMachine): Set<string> => new Set([...groups.values(), ...consumers.groups.values()].flatMap(({ members }) => [...members.keys()]))
