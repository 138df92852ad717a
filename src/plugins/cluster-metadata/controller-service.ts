import { deferred } from '../../base/deferred.ts'
import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { zeroUuid, type Uuid } from '../../kernel/model/ids.ts'
import { type Consensus, type ReplicatedMachine } from '../../kernel/ports/consensus.ts'
import {
  type AlteredConfigs, type BrokerRegistration, type ConfigAlteration, type Controller, type CreatedTopic, type CreateTopic, type DeletedTopic, type ExtendedTopic, type MorePartitions,
} from '../../kernel/ports/controller.ts'
import { type ClusterImage, type MetadataChange } from '../../kernel/ports/cluster-metadata.ts'
import { type Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { mayFreeSpace } from './core/config-commands.ts'
import { ControllerMachine, type ControllerCommand, type NextUint32, type ReplyTo } from './core/controller-machine.ts'
import { ImageChanges, type SettingsOf } from './core/image-changes.ts'
import { imageFromRecords, imageRecords } from './core/image-snapshot.ts'
import { emptyImage } from './core/metadata-image.ts'
import { decodeRecords, encodeRecords } from './core/record-codec.ts'
import { type TopicName, type TopicRules } from './core/topic-commands.ts'
import { type MetadataPublisher } from './metadata-publisher.ts'

export interface ControllerServiceOptions {
  /** Who this cluster must be. Another one in the metadata refuses the start. */
  readonly clusterId: Uuid
  readonly rules: TopicRules
  readonly settingsOf: SettingsOf
}

/**
 * Runs the controller's machine over the consensus. A command is decided against all that was appended before it, its records are appended
 * as one command of the log, and its reply waits until that is committed and applied; a command that changes nothing waits for what it
 * saw. So replies are linearizable, and nobody sees what could still be lost.
 *
 * As the consensus's machine it applies committed records to the published image, on every node alike.
 */
export class ControllerService implements Controller, ReplicatedMachine, Lifecycle {
  private readonly options: ControllerServiceOptions
  private readonly consensus: Consensus
  private readonly publisher: MetadataPublisher
  private readonly nextUint32: NextUint32
  private readonly log: Logger
  /** While this node leads. */
  private machine: ControllerMachine | undefined
  /** Settles when what the machine has seen is committed; rejects when it is not. */
  private settled: Promise<unknown> = Promise.resolve()
  private readonly identified = deferred()
  /** All that was in the log is applied: what is not known of the cluster then is not in it. */
  private opened = false
  private stopped = false

  constructor(options: ControllerServiceOptions, consensus: Consensus, publisher: MetadataPublisher, nextUint32: NextUint32, log: Logger) {
    this.options = options
    this.consensus = consensus
    this.publisher = publisher
    this.nextUint32 = nextUint32
    this.log = log
    // Waited for in `start`; a failure before that is reported there.
    this.identified.promise.catch(() => undefined)
  }

  /** Resolves when the committed metadata says which cluster this is, and it is the right one. */
  async start(): Promise<void> {
    await this.consensus.open(this)
    this.opened = true
    this.identify()
    await this.identified.promise
  }

  stop(): Promise<void> {
    this.stopped = true
    this.machine = undefined
    this.identified.reject(new MillraceError('MR_CLUSTER_STOPPED'))
    return Promise.resolve()
  }

  createTopics(topics: readonly CreateTopic[], validateOnly: boolean): Promise<readonly CreatedTopic[]> {
    return this.run({ type: 'createTopics', topics, validateOnly })
  }

  createPartitions(topics: readonly MorePartitions[], validateOnly: boolean): Promise<readonly ExtendedTopic[]> {
    return this.run({ type: 'createPartitions', topics, validateOnly })
  }

  deleteTopics(topics: readonly TopicName[]): Promise<readonly DeletedTopic[]> {
    return this.run({ type: 'deleteTopics', topics })
  }

  async alterConfigs(alterations: readonly ConfigAlteration[], validateOnly: boolean): Promise<readonly AlteredConfigs[]> {
    const altered = await this.run({ type: 'alterConfigs', alterations, validateOnly })
    for (const { topic, changed } of validateOnly ? [] : altered) if (changed.length > 0) this.log.info('settings changed', { topic, changed })
    return altered
  }

  async confirmRemovals(nodeId: number, topicIds: readonly Uuid[]): Promise<void> {
    await this.run({ type: 'confirmRemovals', nodeId, topicIds })
  }

  registerBroker(registration: BrokerRegistration): Promise<number> {
    return this.run({ type: 'registerBroker', registration })
  }

  allocateProducerIds(nodeId: number, brokerEpoch: number): Promise<{ readonly first: number, readonly count: number }> {
    return this.run({ type: 'allocateProducerIds', nodeId, brokerEpoch })
  }

  restore(index: number, snapshot: Uint8Array | undefined): void {
    const { settingsOf } = this.options
    const image = snapshot === undefined ? emptyImage : imageFromRecords(decodeRecords(snapshot), index, this.leaderId(), settingsOf)
    const before = this.publisher.image()
    this.publisher.publish(image, {
      created: [...image.topics.values()].filter((topic) => !before.topicsById.has(topic.id)),
      deleted: [...before.topics.values()].filter((topic) => !image.topicsById.has(topic.id)),
      changed: [...image.topics.values()].filter((topic) => before.topicsById.has(topic.id)),
    })
  }

  apply(index: number, _term: number, command: Uint8Array): void {
    const before = this.publisher.image()
    const changes = new ImageChanges(before, this.options.settingsOf)
    for (const record of decodeRecords(command)) changes.replay(record)
    const { image, change } = changes.finish(index, this.leaderId())
    this.publisher.publish(image, change)
    this.tell(before, change)
    if (this.opened) this.identify()
  }

  snapshot(): Uint8Array {
    return encodeRecords(imageRecords(this.publisher.image()))
  }

  led(term: number): void {
    const { clusterId, rules, settingsOf } = this.options
    this.publisher.publish({ ...this.publisher.image(), controllerId: this.leaderId() })
    const image = this.publisher.image()
    this.machine = new ControllerMachine(image, rules, settingsOf)
    this.settled = Promise.resolve()
    this.log.info('leading the metadata', { term, index: image.index, topics: image.topics.size })
    if (image.clusterId === zeroUuid) this.bootstrap(clusterId)
  }

  lost(): void {
    this.machine = undefined
    this.publisher.publish({ ...this.publisher.image(), controllerId: this.leaderId() })
  }

  /** Whoever leads an empty log says which cluster it is. When that is lost with the lead, the next one says it. */
  private bootstrap(clusterId: Uuid): void {
    this.run({ type: 'bootstrap', clusterId }).catch((error: unknown) => this.log.warn('the first metadata could not be written', { error }))
  }

  private async run<C extends ControllerCommand>(command: C): Promise<ReplyTo<C>> {
    if (this.machine === undefined) throw this.refusal()
    if (addsToMetadata(command)) this.consensus.checkSpace()
    const seen = this.settled
    let decision
    try {
      decision = this.machine.decide(command, this.nextUint32)
    } catch (error) {
      // Refused for what it saw, which must be true before it is told.
      await seen
      throw error
    }
    const { records, reply } = decision
    if (records.length === 0) {
      await seen
      return reply
    }
    const committed = this.consensus.append([encodeRecords(records)])
    this.machine.replay(records)
    this.settled = committed
    await this.dropUnless(committed, this.machine)
    return reply
  }

  /** Whether a failed append is in the log is not known, so its machine must not decide any more. */
  private async dropUnless(committed: Promise<number>, machine: ControllerMachine): Promise<void> {
    try {
      await committed
    } catch (error) {
      if (this.machine === machine) this.machine = undefined
      throw error
    }
  }

  /** Not while the log is read again at a start. */
  private tell(before: ClusterImage, { created, deleted, changed }: MetadataChange): void {
    if (this.machine === undefined) return
    for (const { name, id, partitions } of created) this.log.info('topic created', { topic: name, topicId: id, partitions: partitions.length })
    for (const { name, id, partitions } of changed) {
      const had = before.topicsById.get(id)!.partitions.length
      if (partitions.length > had) this.log.info('topic extended', { topic: name, topicId: id, partitions: partitions.length, before: had })
    }
    for (const { name, id } of deleted) this.log.info('topic deleted', { topic: name, topicId: id })
  }

  private leaderId(): number {
    return this.consensus.status().leaderId ?? -1
  }

  private refusal(): MillraceError {
    if (this.stopped) return new MillraceError('MR_CLUSTER_STOPPED')
    const { nodeId, leaderId } = this.consensus.status()
    return new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId, leaderId: leaderId ?? 'again later' })
  }

  private identify(): void {
    const { clusterId: found, brokers, topics } = this.publisher.image()
    const { clusterId: expected } = this.options
    if (found === zeroUuid) return
    if (found === expected) {
      this.identified.resolve()
      return
    }
    const { nodeId } = this.consensus.status()
    const partitions = [...topics.values()].reduce((sum, topic) => sum + topic.partitions.length, 0)
    const lines = metaPropertiesLines(found, nodeId, brokers.get(nodeId)?.directoryIds ?? [])
    this.identified.reject(new MillraceError('MR_CLUSTER_METADATA_FOREIGN', { found, expected, lines, partitions }))
  }
}

/** What the `meta.properties` of a broker's data directories say. The id of a directory is drawn anew where it is left out. */
function metaPropertiesLines(clusterId: Uuid, nodeId: number, directoryIds: readonly Uuid[]): string {
  const node = `version=1, cluster.id=${clusterId} and node.id=${nodeId}`
  if (directoryIds.length === 0) return node
  const ids = directoryIds.length === 1 ? directoryIds[0]! : `(each directory its own, in the order of log.dirs: ${directoryIds.join(', ')})`
  return `${node.replace(' and ', ', ')} and directory.id=${ids}`
}

/** The rest is little, and must go on when a disk is full: deletions and shorter retention free it, brokers that start register, producers write to other disks. */
function addsToMetadata(command: ControllerCommand): boolean {
  if (command.type === 'alterConfigs') return !command.validateOnly && !command.alterations.every(mayFreeSpace)
  return (command.type === 'createTopics' || command.type === 'createPartitions') && !command.validateOnly
}
