import { describe, expect, it } from 'vitest'
import { type MemberProtocol } from '../../../../src/plugins/coordinator-group/core/classic-group.ts'
import { encodeSubscription } from '../../../../src/wire/consumer-protocol.ts'
import { BareMachine, beatCommand, joinCommand } from './bare-machine.ts'
import { GroupWorld } from './group-world.ts'

const metadata = encodeSubscription(1, { topics: ['orders'], userData: null })

/** Protocols that count how often their names are looked at. */
class CountedProtocols {
  reads = 0

  make(names: readonly string[]): MemberProtocol[] {
    const count = (name: string): string => {
      this.reads++
      return name
    }
    return names.map((name) => ({ get name() { return count(name) }, metadata }))
  }

  during(work: () => void): number {
    const before = this.reads
    work()
    return this.reads - before
  }
}

const numbered = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('members with many protocols', () => {
  it.each<[string, (member: number) => string[]]>([
    ['the same', () => numbered('p', 1000)],
    ['the same in another order', (member) => member % 2 === 0 ? numbered('p', 1000) : numbered('p', 1000).reverse()],
    ['one in common, the last', (member) => [...numbered(`p${member}-`, 999), 'common']],
  ])('a join costs the names of the member, whoever is there: %s', (_what, namesOf) => {
    const bare = new BareMachine()
    const counted = new CountedProtocols()
    const join = (member: number): number => {
      const protocols = counted.make(namesOf(member))
      return counted.during(() => { expect(bare.ask(joinCommand(`m${member}`, { protocols }))).toEqual([]) })
    }
    for (let member = 0; member < 60; member++) expect(join(member)).toBeLessThanOrEqual(3 * 1000)
    expect(bare.machine.groups.get('g')!.members.size).toBe(60)
  })

  it('nor does one that is refused cost more, nor one that comes and leaves', () => {
    const bare = new BareMachine()
    const counted = new CountedProtocols()
    for (let member = 0; member < 30; member++) bare.ask(joinCommand(`m${member}`, { protocols: counted.make(numbered('p', 1000)) }))
    const refused = counted.make(numbered('q', 1000))
    expect(counted.during(() => { expect(bare.ask(joinCommand('q', { protocols: refused }))).toMatchObject([{ errorCode: 23 }]) })).toBeLessThanOrEqual(3 * 1000)
    const coming = counted.make(numbered('p', 500))
    expect(counted.during(() => {
      bare.ask(joinCommand('r', { protocols: coming }))
      bare.ask({ type: 'leave', groupId: 'g', members: [{ memberId: 'r', instanceId: null, reason: null }] })
      expect(bare.ask(joinCommand('s', { protocols: [{ name: 'p999', metadata }] }))).toEqual([])
    })).toBeLessThanOrEqual(6 * 500)
  })

  it('the choice goes over each member once or twice', () => {
    const bare = new BareMachine()
    const counted = new CountedProtocols()
    for (let member = 0; member < 30; member++) bare.ask(joinCommand(`m${member}`, { protocols: counted.make([...numbered(`p${member}-`, 999), 'common']) }))
    // Put off once, as members came.
    bare.nowMs += 3000
    bare.settle()
    bare.nowMs += 3000
    expect(counted.during(() => { bare.settle() })).toBeLessThanOrEqual(30 * 4 * 1000)
    expect(bare.machine.groups.get('g')!.protocol).toBe('common')
  })

  it('members of the classic protocol in a group of the consumer protocol cost their own names too', () => {
    const bare = new BareMachine()
    bare.topics.set('orders', 3)
    bare.ask(beatCommand('new'))
    const counted = new CountedProtocols()
    for (let member = 0; member < 30; member++) {
      const protocols = counted.make(numbered('p', 1000))
      // What is written of the member names them once more.
      expect(counted.during(() => { expect(bare.ask(joinCommand(`m${member}`, { protocols }))).toMatchObject([{ errorCode: 0 }]) })).toBeLessThanOrEqual(5 * 1000)
    }
  })

  it('what is chosen after members have come, changed and gone is what a new group of those would choose', async () => {
    const world = await GroupWorld.start()
    const [first, second, third] = [world.member({ protocols: ['a', 'b', 'c'] }), world.member({ protocols: ['c', 'b', 'b'] }), world.member({ protocols: ['b'] })]
    expect((await world.gather(first, second, third)).map(({ protocolName }) => protocolName)).toEqual(['b', 'b', 'b'])
    await world.share(first, second, third)
    await third.leave()
    second.options = { ...second.options, protocols: ['c', 'a'] }
    expect((await world.gather(first, second)).map(({ protocolName }) => protocolName)).toEqual(['a', 'a'])
    await world.share(first, second)
    expect(await world.member({ protocols: ['b'] }).joinOnce()).toMatchObject({ errorCode: 23 })
  })

  it('a thousand protocols are taken, and one more is refused', async () => {
    const world = await GroupWorld.start()
    expect((await world.member({ protocols: numbered('p', 1000) }).joinOnce()).errorCode).toBe(79)
    expect((await world.member({ protocols: numbered('p', 1001) }).joinOnce()).errorCode).toBe(42)
  })
})
