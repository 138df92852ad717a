import { describe, expect, it } from 'vitest'
import { Prng } from '../../../../../src/base/prng.ts'
import { MemoryBudget } from '../../../../../src/plugins/protocol-kafka/core/memory-budget.ts'
import { type MemoryHolder } from '../../../../../src/plugins/protocol-kafka/core/memory-holder.ts'
import { headwayBytes, longestTurnMs, starvingMs, turnMs } from '../../../../../src/plugins/protocol-kafka/core/memory-lane.ts'

const seed = Number(process.env['SEED'] ?? 11)
const mb = 1024 * 1024
const limit = 256 * mb
const frame = 100 * mb
const small = 4 * mb

/** A connection that sends one frame after the other at its own speed, as far as it is read. */
class Peer implements MemoryHolder {
  heldBytes = 0
  reads = true
  isClosed = false
  frames = 0
  private readonly world: World
  readonly frameBytes: number
  readonly bytesASecond: number
  readonly stopsAt: number

  constructor(world: World, { frameBytes, bytesASecond, stopsAt = Infinity }: { frameBytes: number, bytesASecond: number, stopsAt?: number }) {
    this.world = world
    this.frameBytes = frameBytes
    this.bytesASecond = bytesASecond
    this.stopsAt = stopsAt
    world.peers.push(this)
  }

  memoryFreed(): void {
    this.reads = true
  }

  giveUpMemory(): boolean {
    if (this.heldBytes === 0) return false
    this.isClosed = true
    this.world.budget.forget(this, this.world.nowMs)
    return true
  }

  send(ms: number): void {
    if (!this.reads || this.isClosed) return
    const next = Math.min(this.stopsAt, this.heldBytes + Math.ceil(this.bytesASecond * ms / 1000))
    if (next === this.heldBytes) return
    const whole = next >= this.frameBytes
    if (whole) this.frames++
    this.reads = this.world.budget.hold(this, whole ? 0 : next, this.world.nowMs)
  }
}

class World {
  readonly budget = new MemoryBudget(limit, { smallBytes: small, overrunBytes: frame })
  readonly peers: Peer[] = []
  nowMs = 0
  most = 0

  run(ms: number): void {
    for (const end = this.nowMs + ms; this.nowMs < end;) {
      this.nowMs += 100
      for (const peer of this.peers) {
        peer.send(100)
        this.most = Math.max(this.most, this.budget.usedBytes)
      }
      if (this.nowMs % turnMs === 0) this.budget.sweep(this.nowMs)
      this.most = Math.max(this.most, this.budget.usedBytes)
    }
  }
}

describe('memory for requests, where peers stop in the middle of a frame', () => {
  for (const [kind, tail] of [['stall', 0], ['trickle', 1000], ['trickle just fast enough', headwayBytes * 1.2]] as const) {
    for (const count of [4, 40]) {
      it(`${count} half frames of 99 MB that ${kind} stop no frame of up to 4 MB for more than a moment`, () => {
        const world = new World()
        const hostile = Array.from({ length: count }, () => new Peer(world, { frameBytes: frame, bytesASecond: 200 * mb, stopsAt: 99 * mb }))
        world.run(2000)
        for (const peer of hostile) Object.assign(peer, { bytesASecond: tail, stopsAt: Infinity })
        const honest = new Peer(world, { frameBytes: 500_000, bytesASecond: 10 * mb })
        for (let second = 0; second < 60; second++) {
          const before = honest.frames
          world.run(1000)
          expect(honest.frames).toBeGreaterThan(before)
        }
      })

      it(`${count} half frames of 99 MB that ${kind} stop a large frame only as long as their turns last, and memory stays bounded`, () => {
        const world = new World()
        const hostile = Array.from({ length: count }, () => new Peer(world, { frameBytes: frame, bytesASecond: 200 * mb, stopsAt: 99 * mb }))
        world.run(2000)
        for (const peer of hostile) Object.assign(peer, { bytesASecond: tail, stopsAt: Infinity })
        const honest = new Peer(world, { frameBytes: 50 * mb, bytesASecond: 50 * mb })
            world.run((count + 1) * (longestTurnMs + turnMs) + starvingMs)
        expect(honest.frames).toBeGreaterThan(0)
        expect(honest.isClosed).toBe(false)
        expect(world.most).toBeLessThan(limit + 2 * frame + (count + 1) * 20 * mb)
      })
    }
  }

  it('half frames that stall while others wait are closed in time, all of them at once; without anybody who waits none is', () => {
    const world = new World()
    const idle = Array.from({ length: 3 }, () => new Peer(world, { frameBytes: frame, bytesASecond: 500 * mb, stopsAt: 60 * mb }))
    world.run(60_000)
    expect(idle.map(({ isClosed }) => isClosed)).toEqual([false, false, false])
    const first = new Peer(world, { frameBytes: frame, bytesASecond: 90 * mb })
    const second = new Peer(world, { frameBytes: frame, bytesASecond: 90 * mb })
    world.run(starvingMs + 2 * turnMs)
    expect(idle.map(({ isClosed }) => isClosed)).toEqual([true, true, true])
    expect([first.frames, second.frames].every((frames) => frames > 0)).toBe(true)
    expect([first.isClosed, second.isClosed]).toEqual([false, false])
  })

  it('small half frames without number, which fill what is kept for small ones, stop a small frame for seconds only', () => {
    const world = new World()
    for (let index = 0; index < 1000; index++) new Peer(world, { frameBytes: small, bytesASecond: 640_000, stopsAt: 300_000 })
    world.run(1000)
    const honest = new Peer(world, { frameBytes: 500_000, bytesASecond: 1 * mb })
    world.run(10 * starvingMs)
    expect(honest.frames).toBeGreaterThan(0)
    expect(honest.isClosed).toBe(false)
  })

  it('nobody is blamed for time in which nobody could be heard', () => {
    const world = new World()
    const idle = new Peer(world, { frameBytes: frame, bytesASecond: 5000 * mb, stopsAt: 99 * mb })
    const runner = new Peer(world, { frameBytes: 150 * mb, bytesASecond: 1400 * mb, stopsAt: 149 * mb })
    const waits = new Peer(world, { frameBytes: frame, bytesASecond: 50 * mb })
    world.run(900)
    expect([runner.reads, waits.reads]).toEqual([true, false])
    world.nowMs += 60_000
    world.budget.pardon(world.nowMs)
    world.budget.sweep(world.nowMs)
    expect([idle.isClosed, runner.isClosed, waits.reads]).toEqual([false, false, false])
  })

  it(`peers of all kinds: bytes are counted right, memory is bounded, and who sends on gets through (seed ${seed})`, () => {
    const prng = new Prng(seed)
    const world = new World()
    const honest = Array.from({ length: 5 }, () => new Peer(world, { frameBytes: prng.between(mb, 60 * mb), bytesASecond: 40 * mb }))
    for (let second = 0; second < 300; second++) {
      if (prng.chance(0.3)) {
        const frameBytes = prng.between(mb, frame)
        new Peer(world, { frameBytes, bytesASecond: prng.pick([1000, mb, 100 * mb]), stopsAt: prng.between(1, frameBytes) })
      }
      world.run(1000)
      expect(world.budget.usedBytes).toBe(world.peers.reduce((sum, { heldBytes }) => sum + heldBytes, 0))
    }
    expect(world.most).toBeLessThan(limit + 2 * frame + world.peers.length * 10 * mb)
    for (const peer of honest) expect(peer.frames).toBeGreaterThan(3)
  })
})
