import { MillraceError } from '../../../src/kernel/errors/index.ts'
import { type Decision, type MachineTime, type ReplayMachine } from '../../../src/runtime/index.ts'

export type TallyCommand =
  | { readonly type: 'add', readonly name: string, readonly amount: number }
  | { readonly type: 'read', readonly name: string }
  /** Answered by the next `release`, in the order of the waiting. */
  | { readonly type: 'wait' }
  | { readonly type: 'release' }
  /** Adds one to `expired` when that time has passed. */
  | { readonly type: 'expireAfter', readonly ms: number }
  | { readonly type: 'refuse' }
  | { readonly type: 'fail' }
  | { readonly type: 'flood', readonly records: number, readonly divisible: boolean }

export type TallyChange = { readonly waiting: readonly number[] } | { readonly deadlineMs: number }

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const record = (name: string, total: number): { key: Uint8Array, value: Uint8Array } => ({ key: encoder.encode(name), value: encoder.encode(String(total)) })

/** Counts by name. Small enough to see through, with one of everything that a machine may do. */
export class TallyMachine implements ReplayMachine<TallyCommand, TallyChange, number> {
  readonly totals = new Map<string, number>()
  waiting: readonly number[] = []
  nextDeadlineMs = Infinity
  loads = 0
  replays = 0

  decide(command: TallyCommand, asker: number, now: MachineTime): Decision<TallyChange, number> {
    switch (command.type) {
      case 'add': {
        const total = this.total(command.name) + command.amount
        return { records: [record(command.name, total)], changes: [], answers: [{ asker, reply: total }] }
      }
      case 'read': return { records: [], changes: [], answers: [{ asker, reply: this.total(command.name) }] }
      case 'wait': return { records: [], changes: [{ waiting: [...this.waiting, asker] }], answers: [] }
      case 'release': return { records: [], changes: [{ waiting: [] }], answers: [...this.waiting, asker].map((each, place) => ({ asker: each, reply: place })) }
      case 'expireAfter': return { records: [], changes: [{ deadlineMs: now.judgedMs + command.ms }], answers: [{ asker, reply: command.ms }] }
      case 'refuse': throw new MillraceError('MR_TOPIC_UNKNOWN', { topic: 'nothing' })
      case 'fail': throw new Error('a bug')
      case 'flood': {
        const records = Array.from({ length: command.records }, (_, index) => record(`flood-${index}`, index))
        return { records, changes: [], answers: [{ asker, reply: command.records }], divisible: command.divisible }
      }
    }
  }

  due(): Decision<TallyChange, number> {
    return { records: [record('expired', this.total('expired') + 1)], changes: [{ deadlineMs: Infinity }], answers: [] }
  }

  loaded(): Decision<TallyChange, number> {
    this.loads++
    return { records: [], changes: [], answers: [] }
  }

  replay(key: Uint8Array, value: Uint8Array | null): void {
    this.replays++
    const text = decoder.decode(value!)
    if (text === 'unreadable') throw new Error('no number')
    this.totals.set(decoder.decode(key), Number(text))
  }

  apply(change: TallyChange): void {
    if ('waiting' in change) this.waiting = change.waiting
    else this.nextDeadlineMs = change.deadlineMs
  }

  total(name: string): number {
    return this.totals.get(name) ?? 0
  }
}
