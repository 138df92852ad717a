import { expect, test } from 'vitest'
import { zeroUuid } from '../../../src/kernel/model/ids.ts'
import { type ClusterImage, type ClusterMetadata, type MetadataChange } from '../../../src/kernel/ports/cluster-metadata.ts'
import { clusterMetadataConformance } from '../../../src/testkit/conformance/cluster-metadata.ts'
import { failuresOf } from '../../../src/testkit/conformance/kit.ts'
import { startController } from '../plugins/cluster-metadata/controller-bench.ts'
import { newTopic, registration } from '../plugins/cluster-metadata/core/metadata-fixtures.ts'
import { CrashDisk } from '../plugins/coordination-single/crash-key-value.ts'

type Listener = (image: ClusterImage, change: MetadataChange) => void

const failures = (change: (real: ClusterMetadata) => Partial<ClusterMetadata>) => failuresOf(declare => {
  clusterMetadataConformance({
    test: declare,
    create: async () => {
      const { metadata, controller, stop } = await startController(new CrashDisk().boot().engine)
      await controller.registerBroker(registration(1))
      const given: ClusterMetadata = { image: () => metadata.image(), subscribe: listener => metadata.subscribe(listener) }
      return {
        metadata: { ...given, ...change(given) }, dispose: stop,
        createTopic: async (name, partitions) => { await controller.createTopics([newTopic(name, { partitions })], false) },
        deleteTopic: async name => { await controller.deleteTopics([{ name, id: zeroUuid }]) },
      }
    },
  })
})
const through = (real: ClusterMetadata, tell: (listener: Listener) => Listener): Partial<ClusterMetadata> => ({ subscribe: listener => real.subscribe(tell(listener)) })

test('takes one that is right', async () => {
  expect(await failures(() => ({}))).toEqual([])
})

test.each<readonly [string, (real: ClusterMetadata) => Partial<ClusterMetadata>]>([
  ['one that tells nothing at once', real => ({
    subscribe: listener => {
      let isFirst = true
      return real.subscribe((image, change) => {
        if (!isFirst) listener(image, change)
        isFirst = false
      })
    },
  })],
  ['changes that come twice', real => through(real, listener => (image, change) => { listener(image, change); listener(image, change) })],
  ['changes that come later than the image', real => through(real, listener => (image, change) => { void Promise.resolve().then(() => { listener(image, change) }) })],
  ['deletions that nobody is told of', real => through(real, listener => (image, change) => { listener(image, { ...change, deleted: [] }) })],
  ['an image of before', real => {
    let last = real.image()
    return through(real, listener => (image, change) => {
      listener(last, change)
      last = image
    })
  }],
  ['an image that changes in the hand', real => ({ image: () => new Proxy(real.image(), { get: (_image, key) => Reflect.get(real.image(), key) as unknown }) })],
  ['partitions that are missing', real => ({
    image: () => {
      const image = real.image()
      const cut = new Map([...image.topics].map(([name, topic]) => [name, { ...topic, partitions: topic.partitions.slice(0, 2) }]))
      return { ...image, topics: cut, topicsById: new Map([...cut.values()].map(topic => [topic.id, topic])) }
    },
  })],
  ['a subscription without an end', real => ({
    subscribe: listener => {
      real.subscribe(listener)
      return () => undefined
    },
  })],
  ['one that takes two subscriptions of a function for one', real => {
    const listeners = new Map<Listener, () => void>()
    return {
      subscribe: listener => {
        if (!listeners.has(listener)) listeners.set(listener, real.subscribe(listener))
        return () => { listeners.get(listener)?.() }
      },
    }
  }],
])('finds %s', async (_name, change) => {
  expect(await failures(change)).not.toEqual([])
})
