import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { kafkaErrors } from '../../../../src/wire/kafka-error-codes.ts'
import { pendingIdsMost } from '../../../../src/plugins/coordinator-group/core/join-group.ts'
import { PendingIds } from '../../../../src/plugins/coordinator-group/core/pending-ids.ts'
import { BareMachine, joinCommand } from './bare-machine.ts'

const protocols = [{ name: 'range', metadata: new Uint8Array(4) }]

/** Gives an id, which nobody uses. */
const knock = (bare: BareMachine, id: string, sessionTimeoutMs = 1_800_000): void => {
  expect(bare.ask(joinCommand(id, { idFirst: true, protocols, sessionTimeoutMs }))).toMatchObject([{ errorCode: kafkaErrors.MEMBER_ID_REQUIRED, memberId: id }])
}

const pendingOf = (bare: BareMachine): PendingIds => bare.machine.groups.get('g')!.pending

/** Entries of maps that are looked at or set. */
function entriesDuring(work: () => void): number {
  const looks = vi.spyOn(Object.getPrototypeOf(new Map().values()) as { next: () => unknown }, 'next')
  const sets = vi.spyOn(Map.prototype, 'set')
  work()
  const count = looks.mock.calls.length + sets.mock.calls.length
  looks.mockRestore()
  sets.mockRestore()
  return count
}

describe('ids that were given and not used', () => {
  it('cost a JoinGroup nothing, however many there are: with an id, without one, and with another\'s', () => {
    const bare = new BareMachine()
    const cost = (round: number): number[] => [
      entriesDuring(() => { knock(bare, `new${round}`) }),
      entriesDuring(() => { bare.ask(joinCommand('', { memberId: `stranger${round}`, protocols })) }),
      entriesDuring(() => { bare.ask(joinCommand('', { memberId: `new${round}`, groupId: 'g', protocols: [] })) }),
    ]
    knock(bare, 'first')
    const few = cost(0)
    for (let count = 0; count < 5000; count++) knock(bare, `m${count}`)
    expect(cost(1)).toEqual(few)
    expect(pendingOf(bare).size).toBe(5003)
  })

  it('are ten thousand at most in a group; the oldest is forgotten, and who comes with it is UNKNOWN_MEMBER_ID', () => {
    const bare = new BareMachine()
    for (let count = 0; count <= pendingIdsMost; count++) knock(bare, `m${count}`)
    expect(pendingOf(bare).size).toBe(pendingIdsMost)
    expect(bare.ask(joinCommand('', { memberId: 'm0', protocols }))).toMatchObject([{ errorCode: kafkaErrors.UNKNOWN_MEMBER_ID }])
    expect(bare.ask(joinCommand('', { memberId: 'm1', protocols }))).toEqual([])
    expect(bare.machine.groups.get('g')!.members.has('m1')).toBe(true)
    expect(pendingOf(bare).size).toBe(pendingIdsMost - 1)
  })

  it('are forgotten when their own sessions are over, and the group with the last', () => {
    const bare = new BareMachine()
    for (let count = 0; count < 100; count++) knock(bare, `m${count}`, 10_000 + count % 10 * 1000)
    for (let second = 10; second < 20; second++) {
      bare.nowMs = second * 1000
      bare.settle()
      expect(bare.machine.groups.get('g')?.pending.size ?? 0).toBe((19 - second) * 10)
    }
    expect(bare.machine.groups.has('g')).toBe(false)
    expect(bare.machine.nextDeadlineMs).toBe(Infinity)
  })

  it('are what a plain map would hold, in any order of gifts, uses, copies that are thrown away and passing time', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('give' as const), id: fc.nat(12), atMs: fc.nat(50) }), fc.record({ type: fc.constant('delete' as const), id: fc.nat(12), atMs: fc.constant(0) }),
      fc.record({ type: fc.constant('expire' as const), id: fc.constant(0), atMs: fc.nat(50) }),
    )
    fc.assert(fc.property(fc.array(fc.record({ steps: fc.array(step, { maxLength: 4 }), isKept: fc.boolean() }), { maxLength: 12 }), (turns) => {
      let pending = new PendingIds()
      let model = new Map<string, number>()
      for (const { steps, isKept } of turns) {
        const [copy, next] = [pending.copy(), new Map(model)]
        // Time is judged once a turn, before anything else.
        for (const { type, id, atMs } of [...steps].sort((left, right) => Number(right.type === 'expire') - Number(left.type === 'expire'))) {
          const key = `m${id}`
          if (type !== 'give') {
            if (type === 'delete') next.delete(key)
            else for (const [each, untilMs] of [...next]) if (untilMs <= atMs) next.delete(each)
          } else {
            next.delete(key)
            next.set(key, atMs)
            if (next.size > 6) next.delete(next.keys().next().value!)
          }
          if (type === 'give') copy.give(key, atMs, 6)
          else if (type === 'delete') copy.delete(key)
          else copy.expire(atMs)
          expect([...copy.keys()]).toEqual([...next.keys()])
          expect([copy.size, copy.has(key)]).toEqual([next.size, next.has(key)])
        }
        if (!isKept) continue
        copy.settle()
        ;[pending, model] = [copy, next]
        expect([...pending.keys()]).toEqual([...model.keys()])
        expect(pending.firstMs).toBeLessThanOrEqual(Math.min(Infinity, ...model.values()))
      }
    }), { seed: 394 })
  })
})
