import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { MemoryBudget } from '../../../../../src/plugins/protocol-kafka/core/memory-budget.ts'
import { type MemoryHolder } from '../../../../../src/plugins/protocol-kafka/core/memory-holder.ts'

const seed = Number(process.env['SEED'] ?? 5)

class Holder implements MemoryHolder {
  heldBytes = 0
  freed = 0
  memoryFreed(): void {
    this.freed++
  }

  giveUpMemory(): boolean {
    return false
  }
}

describe('memory for requests', () => {
  it('everybody reads while the sum is below the bound', () => {
    const budget = new MemoryBudget(100)
    const [a, b] = [new Holder(), new Holder()]
    expect(budget.hold(a, 60, 0)).toBe(true)
    expect(budget.hold(b, 40, 0)).toBe(true)
    expect(budget.usedBytes).toBe(100)
  })

  it('above the bound one goes on and the others stop, so that one frame gets through', () => {
    const budget = new MemoryBudget(100)
    const [a, b, c] = [new Holder(), new Holder(), new Holder()]
    budget.hold(a, 60, 0)
    expect(budget.hold(b, 50, 0)).toBe(true)
    expect(budget.hold(a, 61, 0)).toBe(false)
    expect(budget.hold(c, 5, 0)).toBe(false)
    expect(budget.hold(b, 90, 0)).toBe(true)
    expect([a.freed, c.freed]).toEqual([0, 0])
    // It got through its frame: the first in the queue goes on, and then, below the bound, all.
    expect(budget.hold(b, 0, 0)).toBe(true)
    expect([a.freed, c.freed]).toEqual([1, 1])
    expect(budget.waitingCount).toBe(0)
  })

  it('while it stays above the bound, only the first of the queue is let on', () => {
    const budget = new MemoryBudget(100)
    const [a, b, c] = [new Holder(), new Holder(), new Holder()]
    budget.hold(a, 200, 0)
    expect(budget.hold(b, 90, 0)).toBe(false)
    expect(budget.hold(c, 90, 0)).toBe(false)
    budget.hold(a, 0, 0)
    expect([b.freed, c.freed]).toEqual([1, 0])
    expect(budget.hold(b, 95, 0)).toBe(true)
    budget.hold(b, 0, 0)
    expect(c.freed).toBe(1)
  })

  it('who got through a frame and goes on with another one stands behind the others', () => {
    const budget = new MemoryBudget(100)
    const [greedy, other] = [new Holder(), new Holder()]
    budget.hold(greedy, 150, 0)
    expect(budget.hold(other, 20, 0)).toBe(false)
    budget.hold(greedy, 110, 0)
    expect(other.freed).toBe(1)
    expect(budget.hold(greedy, 111, 0)).toBe(false)
  })

  it('a holder that is gone gives back what it held and leaves the queue', () => {
    const budget = new MemoryBudget(100)
    const [a, b, c] = [new Holder(), new Holder(), new Holder()]
    budget.hold(a, 150, 0)
    budget.hold(b, 10, 0)
    budget.hold(c, 10, 0)
    budget.forget(b, 0)
    budget.forget(a, 0)
    expect([b.freed, c.freed]).toEqual([0, 1])
    expect(budget.usedBytes).toBe(10)
  })

  it('-1 is without bound', () => {
    const budget = new MemoryBudget(-1)
    expect(budget.hold(new Holder(), Number.MAX_SAFE_INTEGER, 0)).toBe(true)
  })

  it(`nobody waits for ever, and the sum is never over the bound by more than one frame and what arrives at once (seed ${seed})`, () => {
    const prng = new Prng(seed)
    const limit = 1000
    const frame = 400
    const step = 50
    const budget = new MemoryBudget(limit)
    const holders = Array.from({ length: 20 }, () => new Holder())
    const stopped = new Set<Holder>()
    const done = new Map<Holder, number>()
    for (const holder of holders) holder.memoryFreed = () => { stopped.delete(holder) }
    for (let round = 0; round < 4000; round++) {
      const free = holders.filter((holder) => !stopped.has(holder))
      expect(free.length).toBeGreaterThan(0)
      const holder = prng.pick(free)
      const next = holder.heldBytes + step
      const complete = next >= frame
      if (complete) done.set(holder, (done.get(holder) ?? 0) + 1)
      if (!budget.hold(holder, complete ? 0 : next, 0)) stopped.add(holder)
      expect(budget.usedBytes).toBe(holders.reduce((sum, { heldBytes }) => sum + heldBytes, 0))
      expect(budget.usedBytes).toBeLessThanOrEqual(limit + frame + holders.length * step)
    }
    const counts = holders.map((each) => done.get(each) ?? 0)
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 4)
  })
})
