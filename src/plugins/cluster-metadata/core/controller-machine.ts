import { randomUuid } from '../../../base/uuid.ts'
import { withoutStacks } from '../../../kernel/errors/index.ts'
import { type Uuid } from '../../../kernel/model/ids.ts'
import {
  type AlteredConfigs, type BrokerRegistration, type ConfigAlteration, type CreatedTopic, type CreateTopic, type DeletedTopic, type ExtendedTopic, type MorePartitions,
} from '../../../kernel/ports/controller.ts'
import { decideRegistration } from './broker-registry.ts'
import { decideConfigs } from './config-commands.ts'
import { type Decision } from './decision.ts'
import { supportedFeatures } from './feature-levels.ts'
import { decideProducerIds, type ProducerIds } from './id-allocator.ts'
import { ImageChanges, type SettingsOf } from './image-changes.ts'
import { type MetadataImage } from './metadata-image.ts'
import { type MetadataRecord } from './metadata-records.ts'
import { decideMorePartitions } from './partition-commands.ts'
import { decideConfirmation, decideCreation, decideDeletion, type NewTopicId, type TopicName, type TopicRules } from './topic-commands.ts'

/** 32 random bits at a call. */
export type NextUint32 = () => number

export type ControllerCommand =
  | { readonly type: 'bootstrap', readonly clusterId: Uuid }
  | { readonly type: 'createTopics', readonly topics: readonly CreateTopic[], readonly validateOnly: boolean }
  | { readonly type: 'createPartitions', readonly topics: readonly MorePartitions[], readonly validateOnly: boolean }
  | { readonly type: 'deleteTopics', readonly topics: readonly TopicName[] }
  | { readonly type: 'alterConfigs', readonly alterations: readonly ConfigAlteration[], readonly validateOnly: boolean }
  | { readonly type: 'confirmRemovals', readonly nodeId: number, readonly topicIds: readonly Uuid[] }
  | { readonly type: 'registerBroker', readonly registration: BrokerRegistration }
  | { readonly type: 'allocateProducerIds', readonly nodeId: number, readonly brokerEpoch: number }

export interface ControllerReplies {
  readonly bootstrap: undefined
  readonly createTopics: readonly CreatedTopic[]
  readonly createPartitions: readonly ExtendedTopic[]
  readonly deleteTopics: readonly DeletedTopic[]
  readonly alterConfigs: readonly AlteredConfigs[]
  readonly confirmRemovals: undefined
  readonly registerBroker: number
  readonly allocateProducerIds: ProducerIds
}

export type ReplyTo<C extends ControllerCommand> = ControllerReplies[C['type']]

/**
 * The controller's decisions, of the replay shape: `decide` looks and never changes anything, `replay` takes what was decided and never
 * refuses. It stands on the metadata as appended, committed or not, so that each decision sees the ones before; where an append fails or
 * leadership is lost, the machine is dropped and a new one made from what is committed.
 */
export class ControllerMachine {
  private image: MetadataImage
  private readonly rules: TopicRules
  private readonly settingsOf: SettingsOf

  constructor(image: MetadataImage, rules: TopicRules, settingsOf: SettingsOf) {
    this.image = image
    this.rules = rules
    this.settingsOf = settingsOf
  }

  /** Throws the MillraceError that refuses a command as a whole. */
  decide<C extends ControllerCommand>(command: C, nextUint32: NextUint32): Decision<ReplyTo<C>> {
    return this.decision(command, nextUint32) as Decision<ReplyTo<C>>
  }

  replay(records: readonly MetadataRecord[]): void {
    const changes = new ImageChanges(this.image, this.settingsOf)
    for (const record of records) changes.replay(record)
    this.image = changes.finish(this.image.index, this.image.controllerId).image
  }

  private decision(command: ControllerCommand, nextUint32: NextUint32): Decision<unknown> {
    const { image, rules } = this
    switch (command.type) {
      case 'bootstrap': return decideBootstrap(command.clusterId)
      case 'createTopics': return withoutStacks(() => decideCreation(image, command.topics, command.validateOnly, rules, nextUint32, freshId(nextUint32)))
      case 'createPartitions': return withoutStacks(() => decideMorePartitions(image, command.topics, command.validateOnly, rules, nextUint32))
      case 'deleteTopics': return withoutStacks(() => decideDeletion(image, command.topics, rules))
      case 'alterConfigs': return withoutStacks(() => decideConfigs(image, command.alterations, command.validateOnly, rules))
      case 'confirmRemovals': return decideConfirmation(image, command.nodeId, command.topicIds)
      case 'registerBroker': return decideRegistration(image, command.registration)
      case 'allocateProducerIds': return decideProducerIds(image, command.nodeId, command.brokerEpoch)
    }
  }
}

/** The first records of a cluster: who it is, and what it may write. */
function decideBootstrap(clusterId: Uuid): Decision<undefined> {
  const features = Array.from(supportedFeatures, ([name, { max }]): MetadataRecord => ({ type: 'featureLevel', name, level: max }))
  return { records: [{ type: 'cluster', clusterId }, ...features], reply: undefined }
}

const freshId = (nextUint32: NextUint32): NewTopicId => (taken) => {
  for (;;) {
    const id = randomUuid(nextUint32)
    if (!taken(id)) return id
  }
}
