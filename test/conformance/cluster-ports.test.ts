import { afterAll, beforeAll, describe, test } from 'vitest'
import { z } from 'zod'
import { createBroker, type Broker } from '../../src/broker/index.ts'
import { definePlugin } from '../../src/kernel/plugin/define-plugin.ts'
import { every } from '../../src/kernel/plugin/token.ts'
import { CoordinatorFinder } from '../../src/kernel/ports/coordinator-finder.ts'
import { Lifecycle } from '../../src/kernel/ports/lifecycle.ts'
import { zeroUuid } from '../../src/kernel/model/ids.ts'
import { clusterMetadataConformance } from '../../src/testkit/conformance/cluster-metadata.ts'
import { coordinatorFinderConformance } from '../../src/testkit/conformance/coordinator-finder.ts'
import { startController } from '../unit/plugins/cluster-metadata/controller-bench.ts'
import { newTopic, registration } from '../unit/plugins/cluster-metadata/core/metadata-fixtures.ts'
import { CrashDisk } from '../unit/plugins/coordination-single/crash-key-value.ts'

describe('the metadata of cluster-metadata', () => {
  clusterMetadataConformance({
    test,
    create: async () => {
      const { metadata, controller, stop } = await startController(new CrashDisk().boot().engine)
      await controller.registerBroker(registration(1))
      const succeed = (results: readonly { readonly error: Error | undefined }[]): void => { for (const { error } of results) if (error !== undefined) throw error }
      return {
        metadata, dispose: stop,
        createTopic: async (name, partitions) => { succeed(await controller.createTopics([newTopic(name, { partitions })], false)) },
        deleteTopic: async (name) => { succeed(await controller.deleteTopics([{ name, id: zeroUuid }])) },
      }
    },
  })
})

describe('the finder of coordinator-group', () => {
  let broker: Broker
  let found: readonly CoordinatorFinder[] = []
  const probe = definePlugin({
    name: 'probe', contract: 1, summary: 'Is given what others contribute.', contributes: [Lifecycle], requires: [every(CoordinatorFinder)], config: z.object({}),
    register({ provide }) {
      provide([Lifecycle], [every(CoordinatorFinder)], (finders) => {
        found = finders
        return { start: () => Promise.resolve(), stop: () => Promise.resolve() }
      })
    },
  })
  beforeAll(async () => {
    broker = await createBroker({ preset: 'memory', logLevel: 'silent', plugins: [probe] })
    await broker.start()
  })
  afterAll(async () => { await broker.stop() })
  coordinatorFinderConformance({ test, create: () => Promise.resolve({ finder: found.find(({ keyType }) => keyType === 0)!, brokers: [broker.identity.nodeId] }) })
})
