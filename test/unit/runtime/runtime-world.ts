import { BrokerSettingsMap } from '../../../src/kernel/config/broker-settings-map.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { type AppendOutcome } from '../../../src/kernel/ports/partition-log.ts'
import { NodeCompression } from '../../../src/platform/codecs/node-compression.ts'
import { MemoryLogStore } from '../../../src/plugins/storage-memory/memory-log-store.ts'
import { MachineHost } from '../../../src/runtime/index.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { RecordingLogger } from '../../../src/testkit/world/recording-telemetry.ts'
import { SeededRandom } from '../../../src/testkit/world/seeded-random.ts'
import { settled } from '../../../src/testkit/world/settled.ts'
import { TestCluster, testClusterId, type TestReplica } from '../plugins/protocol-kafka/fixture/test-cluster.ts'
import { TallyMachine, type TallyChange, type TallyCommand } from './tally-machine.ts'

const incarnationId = 'AAAAAAAAAAAAAAAAAAAAAQ'

/** A host of tally machines over memory logs, in manual time; the test moves watermarks and leaders. */
export class RuntimeWorld {
  readonly timers = new ManualTimers()
  readonly logger = new RecordingLogger()
  readonly cluster: TestCluster
  readonly host: MachineHost<TallyCommand, TallyChange, number>
  /** Newest last. */
  readonly machines: TallyMachine[] = []
  /** What was told, in order: a reply, or the code of an error. */
  readonly told: (number | string)[] = []

  constructor({ loadChunkBytes = 1 << 20, partitions = 1, codec = 0, slowPartitions = [] }: { loadChunkBytes?: number, partitions?: number, codec?: number, slowPartitions?: readonly number[] } = {}) {
    const { timers, logger } = this
    const compression = new NodeCompression()
    const settings = new BrokerSettingsMap({ commandLine: new Map([['listeners', 'PLAINTEXT://127.0.0.1:9092']]) })
    this.cluster = new TestCluster(new MemoryLogStore(timers.clock, timers, new SeededRandom(1), compression, settings))
    this.host = new MachineHost({
      topic: 'tallies', identity: { clusterId: testClusterId, nodeId: 1, incarnationId },
      metadata: this.cluster, replicator: this.cluster, compression, clock: timers.clock, timers, logger, codec, loadChunkBytes, replyTimeoutMs: 5000,
      makeMachine: () => {
        const machine = new TallyMachine()
        this.machines.push(machine)
        return machine
      },
    })
    this.cluster.slowPartitions = slowPartitions
    this.cluster.topic('tallies', partitions)
  }

  /** The broker is registered, and so leads. */
  async start(): Promise<this> {
    this.host.start()
    await this.register()
    return this
  }

  async register(): Promise<void> {
    await this.cluster.registerBroker({ nodeId: 1, incarnationId, endpoints: [], rack: undefined, directoryIds: [] })
    await this.turn()
  }

  get replica(): TestReplica {
    return this.cluster.replica(this.cluster.topics.get('tallies')!.id, 0)!
  }

  get machine(): TallyMachine {
    return this.machines.at(-1)!
  }

  submit(command: TallyCommand, partition = 0, then?: () => void): void {
    this.host.submit(partition, command, (error, reply) => {
      this.told.push(error === undefined ? reply! : isMillraceError(error) ? error.code : (error as Error).message)
      then?.()
    })
  }

  add(name: string, amount = 1): void {
    this.submit({ type: 'add', name, amount })
  }

  /** Another leader epoch, or another leader. */
  lead(leader: number, leaderEpoch: number): void {
    for (const replica of this.cluster.replicasById.get(this.cluster.topics.get('tallies')!.id)!) {
      replica.leader = leader === 1
      replica.leaderEpoch = leaderEpoch
    }
    this.cluster.replaceTopic('tallies', (image) => ({ ...image, partitions: image.partitions.map((each) => ({ ...each, leader, leaderEpoch })) }))
  }

  failAppends(error: unknown): void {
    this.replica.appendError = error
  }

  /** Lets everything run that waits for nothing but its turn. */
  async turn(): Promise<void> {
    for (let count = 0; count < 3; count++) {
      await settled()
      this.timers.runSoon()
    }
  }

  async pass(ms: number): Promise<void> {
    this.timers.advance(ms)
    await this.turn()
  }
}

export const append = (replica: TestReplica, batch: Uint8Array): AppendOutcome => replica.append(batch, 0, batch.length)
