import { describe, expect, it } from 'vitest'
import { ConnectionMachine, stopReasons, type Turn } from '../../../../../src/plugins/protocol-kafka/core/connection-machine.ts'

class TestTurn implements Turn<TestTurn> {
  readonly id: number
  next: TestTurn | undefined = undefined
  over = false
  constructor(id: number) {
    this.id = id
  }
}

const drain = (machine: ConnectionMachine<TestTurn>): number[] => {
  const ids: number[] = []
  for (let turn = machine.take(); turn !== undefined; turn = machine.take()) ids.push(turn.id)
  return ids
}

describe('the order of a connection', () => {
  it('turns leave in the order of their arrival, whatever the order in which they end', () => {
    const machine = new ConnectionMachine<TestTurn>(100)
    const turns = [1, 2, 3, 4].map((id) => new TestTurn(id))
    for (const turn of turns) machine.begin(turn)
    turns[2]!.over = true
    expect(drain(machine)).toEqual([])
    turns[0]!.over = true
    expect(drain(machine)).toEqual([1])
    turns[3]!.over = true
    turns[1]!.over = true
    expect(drain(machine)).toEqual([2, 3, 4])
    expect(machine.size).toBe(0)
  })

  it('a turn that begins after the queue ran empty is next', () => {
    const machine = new ConnectionMachine<TestTurn>(100)
    const first = new TestTurn(1)
    machine.begin(first)
    first.over = true
    expect(drain(machine)).toEqual([1])
    const second = new TestTurn(2)
    machine.begin(second)
    expect(machine.isNext(second)).toBe(true)
  })

  it('closes when as many turns are under way as may be, and opens when one has left', () => {
    const machine = new ConnectionMachine<TestTurn>(2)
    const turns = [new TestTurn(1), new TestTurn(2)]
    machine.begin(turns[0]!)
    expect(machine.open).toBe(true)
    machine.begin(turns[1]!)
    expect(machine.open).toBe(false)
    turns[0]!.over = true
    drain(machine)
    expect(machine.open).toBe(true)
  })

  it('is open when every hold was let go and every reason to stop is gone', () => {
    const machine = new ConnectionMachine<TestTurn>(2)
    machine.hold()
    machine.hold()
    machine.stop(stopReasons.output)
    machine.stop(stopReasons.memory)
    machine.stop(stopReasons.output)
    machine.letGo()
    machine.goOn(stopReasons.output)
    expect(machine.open).toBe(false)
    machine.letGo()
    expect(machine.open).toBe(false)
    machine.goOn(stopReasons.memory)
    expect(machine.open).toBe(true)
    expect(() => { machine.letGo() }).toThrow('only what was held')
  })

  it('gives all turns under way, in order, when the connection is gone', () => {
    const machine = new ConnectionMachine<TestTurn>(10)
    for (const id of [1, 2, 3]) machine.begin(new TestTurn(id))
    expect(machine.clear().map(({ id }) => id)).toEqual([1, 2, 3])
    expect(machine.size).toBe(0)
    expect(machine.clear()).toEqual([])
  })
})
