import { describe, expect, it } from 'vitest'
import { Flusher, type FlushTarget } from '../../../../../src/plugins/storage-local/io/flusher.ts'

/** A file of which each sync is ended by hand. */
class Target implements FlushTarget {
  queued = false
  written = 0
  /** What each sync covers. */
  readonly covered: number[] = []
  private synced = 0
  private inFlight: ((error: unknown) => void) | undefined

  get needsSync(): boolean { return this.synced < this.written }

  sync(done: (error: unknown) => void): void {
    this.covered.push(this.written)
    this.inFlight = done
  }

  end(error?: unknown): void {
    const done = this.inFlight!
    this.inFlight = undefined
    if (error === undefined) this.synced = this.covered.at(-1)!
    done(error)
  }
}

function setUp(syncsMax = 1) {
  const soon: (() => void)[] = []
  const failures: unknown[] = []
  const flusher = new Flusher(syncsMax, callback => soon.push(callback), error => failures.push(error))
  const write = (target: Target, bytes = 1): void => {
    target.written += bytes
    flusher.appended(target)
  }
  const endTurn = (): void => { for (const callback of soon.splice(0)) callback() }
  return { write, endTurn, failures }
}

describe('Flusher', () => {
  it('what is written in one turn of the loop shares one sync', () => {
    const { write, endTurn } = setUp()
    const target = new Target()
    for (let request = 0; request < 64; request++) write(target)
    expect(target.covered).toEqual([])
    endTurn()
    expect(target.covered).toEqual([64])
  })

  it('what is written during a sync is covered by the next, which starts as soon as that one ends', () => {
    const { write, endTurn } = setUp()
    const target = new Target()
    write(target)
    endTurn()
    write(target, 5)
    write(target, 5)
    endTurn()
    expect(target.covered).toEqual([1])
    target.end()
    expect(target.covered).toEqual([1, 11])
    target.end()
    endTurn()
    expect(target.covered).toEqual([1, 11])
  })

  it('no more syncs are in flight than allowed, and targets take turns', () => {
    const { write, endTurn } = setUp(2)
    const [a, b, c] = [new Target(), new Target(), new Target()]
    for (const target of [a, b, c]) write(target)
    endTurn()
    expect([a, b, c].map(target => target.covered.length)).toEqual([1, 1, 0])
    write(a)
    a.end()
    expect([a, b, c].map(target => target.covered.length)).toEqual([1, 1, 1])
    b.end()
    expect([a, b, c].map(target => target.covered.length)).toEqual([2, 1, 1])
  })

  it('after a sync that failed none starts, also not one that was asked for in the same turn', () => {
    const { write, endTurn, failures } = setUp()
    const [a, b] = [new Target(), new Target()]
    write(a)
    endTurn()
    write(b)
    a.end('the disk is broken')
    endTurn()
    write(b)
    endTurn()
    expect(failures).toEqual(['the disk is broken'])
    expect(b.covered).toEqual([])
  })
})
