import { describe, test } from 'vitest'
import { NodeNetwork } from '../../src/platform/node-network.ts'
import { networkConformance } from '../../src/testkit/conformance/network.ts'

describe.each(['shared', 'chunks'] as const)('NodeNetwork, receiving into %s memory', receive => {
  networkConformance({
    test,
    create: () => ({ network: new NodeNetwork({ receive }), host: '127.0.0.1' }),
  })
})
