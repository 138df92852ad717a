import { describe, expect, it } from 'vitest'
import { VolatileKeyValueEngine } from '../../../../src/platform/volatile-key-value-engine.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { clusterId, voterWorld } from './voter-world.ts'

const fatal = { fatal: (error: unknown) => { throw error } }
const options = { nodeId: 1, clusterId, path: '/meta', snapshotEntries: 5, snapshotBytes: 1 << 20, reserveBytes: 0 }

describe('a stop while a voter starts', () => {
  it('waits, whenever it comes, and leaves the directory free: what was acknowledged is there for the next voter', async () => {
    const engine = new VolatileKeyValueEngine()
    const make = () => new SingleVoter(options, voterWorld(engine, fatal))
    const first = make()
    await first.start()
    await first.open(new NotedMachine())
    await first.append([Uint8Array.of(7)])
    await first.stop()
    const ends = new Set<string>()
    for (let turns = 0; turns < 60; turns++) {
      const voter = make()
      const started = voter.start().then(() => voter.open(new NotedMachine())).then(() => 'open', (error: { code: string }) => error.code)
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      await Promise.all([voter.stop(), voter.stop()])
      ends.add(await started)
      const next = make()
      const machine = new NotedMachine()
      await next.start()
      await next.open(machine)
      expect(machine.commands).toEqual([Uint8Array.of(7)])
      await next.stop()
    }
    expect([...ends].sort()).toEqual(['MR_CLUSTER_STOPPED', 'open'])
  })
})
