import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { type ConsumeOptions, say, sayCommitted, sayPartitions, sayRecord, serve, type ServedClient, type ServedMember } from './serve.ts'

/** Installed beside the Node 24 that it needs, out of reach of this checkout's node_modules: hence no types. */
const packageDir = join(process.env.PLATFORMATIC_DIR!, 'node_modules', '@platformatic', 'kafka')
const platformatic = await import(pathToFileURL(join(packageDir, 'dist', 'index.js')).href)

interface Message { partition: number, offset: bigint, leaderEpoch: number, metadata: { consumer: { generationId: number } } }
interface Stream extends AsyncIterable<Message> { readonly readableLength: number, close (): Promise<void> }

interface Consumer {
  readonly generationId: number
  on (event: string, listener: (payload: any) => void): void // eslint-disable-line @typescript-eslint/no-explicit-any -- the package is out of reach of the compiler
  consume (options: object): Promise<Stream>
  commit (options: object): Promise<void>
  listOffsetsWithTimestamps (options: object): Promise<Map<string, Map<number, { offset: bigint }>>>
  close (force: boolean): Promise<void>
}

const common = (bootstrap: string): object => ({ clientId: 'groups-platformatic', bootstrapBrokers: [bootstrap], retries: 60, retryDelay: 200, metadataMaxAge: 2000 })

/** Reads through one stream after another: seeking is a stream that begins elsewhere. */
class PlatformaticMember implements ServedMember {
  private readonly options: ConsumeOptions
  private readonly consumer: Consumer
  /** The generation since which it has each partition. */
  private owned = new Map<number, number>()
  /** What it had when the rebalance began. */
  private before = new Map<number, number>()
  private positions = new Map<number, number>()
  private readonly epochs = new Map<number, number>()
  /** Partitions of which something was read that is not committed. */
  private readonly fresh = new Set<number>()
  private stream: Stream | undefined
  private rebalancing: Promise<void> | undefined
  private ended: () => void = () => {}
  private committing: Promise<void> = Promise.resolve()

  constructor (options: ConsumeOptions) {
    this.options = options
    const classic = { sessionTimeout: 15_000, heartbeatInterval: 300, rebalanceTimeout: 15_000 }
    this.consumer = new platformatic.Consumer({ ...common(options.bootstrap), groupId: options.group, groupProtocol: options.protocol, maxWaitTime: 200, ...options.protocol === 'classic' ? classic : {} })
    this.consumer.on('error', (error: unknown) => { console.error(error) })
    if (options.protocol === 'classic') {
      this.consumer.on('consumer:group:rebalance', () => { this.rebalances() })
      this.consumer.on('consumer:group:join', ({ assignments }: { assignments: { topic: string, partitions: number[] }[] }) => {
        this.rebalances()
        this.owns(assignments.find(({ topic }) => topic === options.topic)?.partitions ?? [])
        this.ended()
      })
    } else this.watchAssignments()
  }

  /** In the consumer protocol no event tells of partitions: they are seen where the client keeps them. */
  private watchAssignments (): void {
    let assignments: { topic: string, partitions: number[] }[] | null = null
    Object.defineProperty(this.consumer, 'assignments', {
      get: () => assignments,
      set: (given: typeof assignments) => {
        assignments = given
        this.owns(given?.find(({ topic }) => topic === this.options.topic)?.partitions ?? [])
      },
    })
  }

  /** All partitions are given up, until the group has shared them out again. */
  private rebalances (): void {
    if (this.owned.size > 0) sayPartitions('partitions_revoked', this.owned.keys())
    if (this.rebalancing === undefined) this.before = this.owned
    this.owned = new Map()
    this.rebalancing ??= new Promise(resolve => { this.ended = () => { this.rebalancing = undefined; resolve() } })
  }

  private owns (partitions: readonly number[]): void {
    const revoked = [...this.owned.keys()].filter(partition => !partitions.includes(partition))
    const assigned = partitions.filter(partition => !this.owned.has(partition))
    // What it keeps it reads on; a position of a partition that it had before somebody else says nothing.
    this.positions = new Map([...this.positions].filter(([partition]) => partitions.includes(partition)))
    for (const partition of revoked) this.owned.delete(partition)
    for (const partition of assigned) this.owned.set(partition, this.before.get(partition) ?? this.consumer.generationId)
    if (revoked.length > 0) sayPartitions('partitions_revoked', revoked)
    if (assigned.length > 0) sayPartitions('partitions_assigned', assigned)
  }

  async start (): Promise<void> {
    const { topic, fromMs } = this.options
    if (fromMs === undefined) return this.open({ mode: 'committed', fallbackMode: 'earliest' })
    const found = await this.consumer.listOffsetsWithTimestamps({ topics: [topic], timestamp: BigInt(fromMs) })
    const offsets = [...(found.get(topic)!)].map(([partition, { offset }]) => ({ topic, partition, offset }))
    return this.open({ mode: 'manual', offsets })
  }

  private async open (where: object): Promise<void> {
    this.stream = await this.consumer.consume({ topics: [this.options.topic], autocommit: false, maxWaitTime: 200, highWaterMark: 64, ...where })
    this.read(this.stream).catch((error: unknown) => { console.error(error); process.exit(1) })
  }

  private async read (stream: Stream): Promise<void> {
    for await (const { partition, offset, leaderEpoch, metadata } of stream) {
      await this.rebalancing
      if (this.stream !== stream) continue
      if (!this.isStale(partition, offset, metadata.consumer.generationId)) {
        sayRecord(partition, Number(offset))
        this.positions.set(partition, Number(offset) + 1)
        this.epochs.set(partition, leaderEpoch)
        this.fresh.add(partition)
      }
      if (this.options.commitsByHand || stream.readableLength > 0 || this.fresh.size === 0) continue
      const fresh = [...this.fresh].filter(each => this.owned.has(each))
      this.fresh.clear()
      this.committing = this.commitOf(fresh)
      await this.committing
    }
  }

  /**
   * The stream hands over what it fetched before a rebalance, and then begins at what is committed, or goes on if a fetch was under way: such records are somebody else's, come
   * again, or do not come again. Hence: those of partitions that were kept are taken, each once; those of others only if they were fetched since they came.
   */
  private isStale (partition: number, offset: bigint, generation: number): boolean {
    const since = this.owned.get(partition)
    return since === undefined || generation < since || Number(offset) < (this.positions.get(partition) ?? 0)
  }

  private async commitOf (partitions: readonly number[]): Promise<void> {
    const offsets = partitions.map(partition => ({ partition, offset: this.positions.get(partition)! }))
    const failure = await sayCommitted(offsets, () => this.consumer.commit({
      offsets: offsets.map(({ partition, offset }) => ({ topic: this.options.topic, partition, offset: BigInt(offset), leaderEpoch: this.epochs.get(partition)! })),
    }))
    if (failure !== undefined) console.error(failure)
  }

  /** A stream cannot be moved: another one begins at what is committed. It is opened before the first is closed, since a member without a stream joins again. */
  async seek (partition: number, offset: number): Promise<void> {
    const before = this.stream!
    this.stream = undefined
    await this.committing
    this.positions.set(partition, offset)
    await this.commitOf([partition])
    say('seeked', { partition, offset })
    await this.open({ mode: 'committed', fallbackMode: 'earliest' })
    await before.close()
  }

  async commit (): Promise<void> {
    await this.commitOf([...this.positions.keys()])
  }

  async leave (): Promise<void> {
    this.stream = undefined
    await this.committing
    this.rebalances()
    await this.consumer.close(true)
  }
}

const client: ServedClient = {
  async createTopic (bootstrap, topic, partitions) {
    const admin = new platformatic.Admin(common(bootstrap))
    await admin.createTopics({ topics: [topic], partitions, replicas: 1 })
    await admin.close()
  },
  async producer (bootstrap, topic, partitions) {
    const producer = new platformatic.Producer({ ...common(bootstrap), idempotent: true })
    return {
      async send (value) {
        const messages = Array.from({ length: partitions }, (_, partition) => ({ topic, partition, value: Buffer.from(value) }))
        const { offsets } = await producer.send({ messages, acks: -1 }) as { offsets: { partition: number, offset: bigint }[] }
        return offsets.map(({ partition, offset }) => ({ partition, offset: Number(offset) }))
      },
      close: () => producer.close(),
    }
  },
  async consume (options) {
    const member = new PlatformaticMember(options)
    await member.start()
    return member
  },
}

await serve(client, process.argv.slice(2))
