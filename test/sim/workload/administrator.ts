import { type Prng } from '../../../src/base/prng.ts'
import { type Admin, type Client } from '../../../src/client/index.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { Violation } from '../history.ts'
import { type Operation, type Stage } from './stage.ts'
import { type Topic } from './topics.ts'

const names = ['apples', 'bread', 'cheese', 'dates', 'eggs', 'flour']

/** Makes topics, deletes them, and makes others of the same names; looks at settings and at the cluster. */
export class Administrator {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly client: () => Client
  private readonly prng: Prng
  /** Names that this actor is at work on. */
  private readonly busy = new Set<string>()
  private readonly unfinished = new Map<string, Topic | undefined>()
  private readonly compactedShare: number

  /** `compactedShare`: how often a topic is compacted. */
  constructor(stage: Stage, client: () => Client, prng: Prng, compactedShare = 0) {
    this.compactedShare = compactedShare
    this.stage = stage
    this.client = client
    this.prng = prng
    this.operations = [
      { name: 'create topic', weight: 12, run: () => this.create() },
      { name: 'delete topic', weight: 10, run: () => this.delete() },
      { name: 'describe topic', weight: 4, run: () => this.describe() },
      { name: 'describe configs', weight: 3, run: () => this.describeConfigs() },
      { name: 'list topics', weight: 3, run: () => this.list() },
      { name: 'describe cluster', weight: 2, run: () => this.describeCluster() },
    ]
  }

  async create(): Promise<void> {
    const { stage, prng } = this
    const free = names.filter(name => !stage.topics.has(name) && !this.busy.has(name))
    if (free.length === 0) return
    const name = prng.pick(free)
    await this.alone(name, async () => {
      if (this.unfinished.has(name)) await this.finishDeleting(name)
      const durability = prng.pick(['fsync', 'fsync', 'fsync', 'os'] as const)
      const compacted = this.compactedShare > 0 && prng.chance(this.compactedShare)
      const trimmed = !compacted && prng.chance(0.25)
      const partitions = prng.between(1, 3)
      const configs: Record<string, string> = {
        durability, 'internal.segment.bytes': prng.pick(['1024', '4000', '20000']), 'index.interval.bytes': prng.pick(['0', '300', '4096']),
        'file.delete.delay.ms': '500', 'message.timestamp.type': prng.pick(['CreateTime', 'CreateTime', 'LogAppendTime']),
        'compression.type': prng.pick(['producer', 'producer', 'producer', 'gzip', 'lz4', 'uncompressed']),
        ...(trimmed ? { 'retention.bytes': '8000' } : {}),
        ...(compacted ? { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0' } : {}),
      }
      // What becomes of a creation that fails is not known; the topic has to go before there can be another of its name.
      this.unfinished.set(name, undefined)
      const [created] = await this.ask(admin => admin.createTopics([{ name, partitions, configs }], { timeoutMs: 5000 }))
      this.unfinished.delete(name)
      stage.topics.add({ name, id: created!.topicId!, life: 0, partitions, durability, trimmed, compacted, doomed: false })
    })
  }

  private async delete(): Promise<void> {
    const { stage, prng } = this
    const topic = stage.topics.pick(prng)
    if (topic === undefined || stage.topics.all().length < 3 || this.busy.has(topic.name)) return
    await this.alone(topic.name, async () => {
      stage.topics.doom(topic)
      this.unfinished.set(topic.name, topic)
      await this.finishDeleting(topic.name)
    })
  }

  /** Deletes until it is certain that there is no topic of this name. */
  private async finishDeleting(name: string): Promise<void> {
    const { stage } = this
    for (;;) {
      try {
        await this.ask(admin => admin.deleteTopics([name], { timeoutMs: 5000 }))
      } catch (error) {
        if (!isMillraceError(error)) throw error
        stage.count(`delete topic: ${error.code}`)
        // A request of before may still be under way.
        await stage.sim.world.sleep(3000)
        if (!isMillraceError(error, 'MR_TOPIC_UNKNOWN')) continue
      }
      const topic = this.unfinished.get(name)
      this.unfinished.delete(name)
      if (topic === undefined) return
      stage.topics.remove(topic)
      stage.topicsDeleted++
      return
    }
  }

  /** While nobody makes topics or deletes them: none is there but those that are known. A deletion that was answered is not taken back. */
  async expectNoOthers(): Promise<void> {
    const { topics } = this.stage
    const known = new Set(topics.all().map(({ id }) => id))
    for (const { name, topicId } of await this.ask(admin => admin.listTopics({ timeoutMs: 5000 }))) {
      if (!known.has(topicId!) && !this.unfinished.has(name)) throw new Violation(`${name} of id ${topicId} is listed, and was deleted`)
    }
  }

  private async describe(): Promise<void> {
    const topic = this.stage.topics.pick(this.prng)
    if (topic === undefined) return
    const [found] = await this.ask(admin => admin.describeTopics([topic.name], { timeoutMs: 5000 }))
    if (!topic.doomed && (found!.topicId !== topic.id || found!.partitions.length !== topic.partitions)) {
      throw new Violation(`${topic.name} is described as ${JSON.stringify(found)}, and was made as ${JSON.stringify(topic)}`)
    }
  }

  private async describeConfigs(): Promise<void> {
    const topic = this.stage.topics.pick(this.prng)
    if (topic === undefined) return
    const [found] = await this.ask(admin => admin.describeConfigs([{ type: 'topic', name: topic.name }], { timeoutMs: 5000 }))
    const durability = found!.entries.find(entry => entry.name === 'durability')?.value
    if (!topic.doomed && durability !== topic.durability) throw new Violation(`${topic.name} has durability ${durability}, and was made with ${topic.durability}`)
  }

  private async list(): Promise<void> {
    const { stage } = this
    const before = stage.topics.all().filter(topic => !topic.doomed)
    const listed = new Map((await this.ask(admin => admin.listTopics({ timeoutMs: 5000 }))).map(topic => [topic.name, topic.topicId]))
    for (const topic of before) {
      if (!topic.doomed && listed.get(topic.name) !== topic.id) throw new Violation(`${topic.name} of id ${topic.id} is listed as ${listed.get(topic.name)}`)
    }
  }

  private async describeCluster(): Promise<void> {
    const { brokers } = await this.ask(admin => admin.describeCluster({ timeoutMs: 5000 }))
    if (brokers.length !== 1 || brokers[0]!.host !== 'broker') throw new Violation(`the cluster is described as ${JSON.stringify(brokers)}`)
  }

  private async ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    await using admin = this.client().admin()
    return await question(admin)
  }

  private async alone(name: string, run: () => Promise<void>): Promise<void> {
    this.busy.add(name)
    try {
      await run()
    } finally {
      this.busy.delete(name)
    }
  }
}
