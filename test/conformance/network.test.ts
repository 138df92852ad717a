import { describe, test } from 'vitest'
import { NodeNetwork } from '../../src/platform/node-network.ts'
import { networkConformance } from '../../src/testkit/conformance/network.ts'
import { MemoryNetwork } from '../../src/testkit/world/memory-network.ts'
import { SeededRandom } from '../../src/testkit/world/seeded-random.ts'
import { SimScheduler } from '../../src/testkit/world/sim-scheduler.ts'
import { SimClock, SimTimers } from '../../src/testkit/world/sim-timers.ts'

describe.each(['shared', 'chunks'] as const)('NodeNetwork, receiving into %s memory', receive => {
  networkConformance({
    test,
    create: () => ({ network: new NodeNetwork({ receive }), host: '127.0.0.1' }),
  })
})

describe.each([1, 2, 3])('MemoryNetwork, seed %i', seed => {
  networkConformance({
    test,
    create: () => {
      const scheduler = new SimScheduler()
      const timers = new SimTimers(scheduler, 'network')
      const network = new MemoryNetwork({ clock: new SimClock(scheduler), timers, random: new SeededRandom(seed) })
      network.host('far')
      network.crash('far', { silent: true })
      return {
        network: network.host('here'), host: '127.0.0.1', silent: { host: 'far', port: 1 },
        settle: promise => scheduler.complete(promise),
      }
    },
  })
})
