import { type ClusterImage, type ClusterMetadata, type MetadataChange } from '../../kernel/ports/cluster-metadata.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** Metadata, and a way to change it. */
export interface ClusterMetadataSubject {
  readonly metadata: ClusterMetadata
  /** Resolves when the change is applied here. */
  readonly createTopic: (name: string, partitions: number) => Promise<void>
  readonly deleteTopic: (name: string) => Promise<void>
  readonly dispose?: () => Promise<void>
}

/** A ClusterMetadata to examine. */
export interface ClusterMetadataConformance {
  readonly test: DeclareTest
  /** Of a cluster without topics, with a broker that is alive. */
  readonly create: () => Promise<ClusterMetadataSubject>
}

interface Told {
  readonly image: ClusterImage
  readonly change: MetadataChange
  /** Of the metadata, in the moment of the call. */
  readonly current: ClusterImage
}

const names = (topics: Iterable<{ readonly name: string }>): string[] => [...topics].map(({ name }) => name).sort()
const inWords = ({ change: { created, deleted, changed } }: Told): string =>
  [...names(created).map(name => `+${name}`), ...names(deleted).map(name => `-${name}`), ...names(changed).map(name => `~${name}`)].join(' ')

const follow = (metadata: ClusterMetadata): { readonly told: Told[], readonly end: () => void } => {
  const told: Told[] = []
  const end = metadata.subscribe((image, change) => { told.push({ image, change, current: metadata.image() }) })
  return { told, end }
}

interface Claim {
  readonly title: string
  readonly body: (subject: ClusterMetadataSubject) => Promise<void>
}

const claim = (title: string, body: Claim['body']): Claim => ({ title, body })

const claims: readonly Claim[] = [
  claim('who subscribes is told at once, in the call, of all topics as created', async ({ metadata, createTopic }) => {
    await createTopic('a', 1)
    await createTopic('b', 2)
    const { told } = follow(metadata)
    checkEqual([told.length, inWords(told[0]!)], [1, '+a +b'], 'what was told')
    check(told[0]!.image === metadata.image(), 'the image is the one that counts')
  }),
  claim('each change is told once, in order, with the image that it came to', async ({ metadata, createTopic, deleteTopic }) => {
    const { told } = follow(metadata)
    await createTopic('a', 1)
    await createTopic('b', 1)
    await deleteTopic('a')
    checkEqual(told.map(inWords).filter(words => words !== ''), ['+a', '+b', '-a'], 'the changes')
    checkEqual(told.map(({ image }) => names(image.topics.values()).join()).filter((each, index, all) => each !== all[index - 1]), ['', 'a', 'a,b', 'b'], 'topics of the images')
    told.forEach(({ image, current }, index) => {
      check(image === current, 'the image that is told is the one that is asked for')
      check(index === 0 || image.index > told[index - 1]!.image.index, `index ${image.index} is above the one before`)
    })
  }),
  claim('a topic is there under its name and its id, with all of its partitions, led by a broker that there is', async ({ metadata, createTopic }) => {
    await createTopic('wide', 5)
    const { topics, topicsById, brokers } = metadata.image()
    const topic = topics.get('wide')!
    check(topicsById.get(topic.id) === topic, 'both names give one object')
    checkEqual(topic.partitions.map(({ partition }) => partition), [0, 1, 2, 3, 4], 'partitions')
    for (const { leader, leaderEpoch, replicas, isr } of topic.partitions) {
      check(brokers.has(leader) && replicas.includes(leader) && isr.includes(leader) && leaderEpoch >= 0, `broker ${leader} leads in epoch ${leaderEpoch}, of ${replicas.join()}`)
    }
  }),
  claim('an image that was given does not change', async ({ metadata, createTopic, deleteTopic }) => {
    await createTopic('a', 1)
    const image = metadata.image()
    const before = { index: image.index, topics: names(image.topics.values()), ids: [...image.topicsById.keys()], partitions: JSON.stringify(image.topics.get('a')!.partitions) }
    await createTopic('b', 1)
    await deleteTopic('a')
    checkEqual({ index: image.index, topics: names(image.topics.values()), ids: [...image.topicsById.keys()], partitions: JSON.stringify(image.topics.get('a')!.partitions) }, before, 'the image')
  }),
  claim('a name that is given anew is another topic: the old one is told as deleted, and its id is gone', async ({ metadata, createTopic, deleteTopic }) => {
    await createTopic('a', 1)
    const { id } = metadata.image().topics.get('a')!
    const { told } = follow(metadata)
    await deleteTopic('a')
    await createTopic('a', 3)
    const image = metadata.image()
    check(image.topics.get('a')!.id !== id && !image.topicsById.has(id), 'it has another id')
    checkEqual(told.flatMap(({ change }) => change.deleted).map(topic => [topic.id, topic.partitions.length]), [[id, 1]], 'what was deleted')
  }),
  claim('who has ended the subscription is told no more, also by a call that ends it; ending twice is fine', async ({ metadata, createTopic }) => {
    const { told, end } = follow(metadata)
    let seen = 0
    const endOther = metadata.subscribe(() => {
      seen++
      if (seen === 2) endOther()
    })
    await createTopic('a', 1)
    end()
    end()
    const count = told.length
    await createTopic('b', 1)
    checkEqual([told.length, seen], [count, 2], 'calls')
  }),
  claim('a function that is subscribed twice is told twice', async ({ metadata, createTopic }) => {
    const created: string[] = []
    const listener = (_image: ClusterImage, change: MetadataChange): void => { created.push(...names(change.created)) }
    const end = metadata.subscribe(listener)
    metadata.subscribe(listener)
    await createTopic('a', 1)
    checkEqual(created, ['a', 'a'], 'what both were told')
    end()
    await createTopic('b', 1)
    checkEqual(created, ['a', 'a', 'b'], 'what the other one is told')
  }),
]

/** What every ClusterMetadata promises. */
export function clusterMetadataConformance({ test, create }: ClusterMetadataConformance): void {
  for (const { title, body } of claims) {
    test(title, async () => {
      const subject = await create()
      try {
        await body(subject)
      } finally {
        await subject.dispose?.()
      }
    })
  }
}
