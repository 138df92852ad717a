/**
 * The client: producers, consumers and admins for a millrace or an Apache Kafka cluster, over the network or in process.
 *
 * ```ts
 * const producer = createProducer({ bootstrap: '127.0.0.1:9092' })
 * const { partition, offset } = await producer.send({ topic: 'orders', key: 'o-1', value: 'created' })
 * await producer.close()
 * ```
 */
import { type Logger } from '../kernel/ports/telemetry.ts'
import { type Admin } from './admin/admin.ts'
import { Client } from './client.ts'
import { clientSettings, type ConnectionSettings, type InProcessSettings } from './client-options.ts'
import { type ClientWorld } from './client-world.ts'
import { connectionOptionNames, consumerOptionNames, optionsNamed, producerOptionNames, refuseUnknown } from './known-options.ts'
import { type Consumer } from './consumer/consumer.ts'
import { type ConsumerOptions } from './consumer/consumer-settings.ts'
import { thisMachine } from './machine.ts'
import { type GroupConsumer } from './group/group-consumer.ts'
import { type GroupOptions } from './group/group-settings.ts'
import { type Producer } from './producer/producer.ts'
import { type ProducerOptions } from './producer/producer-settings.ts'

/** Where the cluster is, and how to work with it: by addresses, or in process. A name that is no option is refused with MR_CLIENT_SETTING and the nearest one. */
export type ClientOptions = (ConnectionSettings | (Partial<ConnectionSettings> & {
  /** A broker in this process, to be reached without a socket. */
  readonly inProcess: InProcessSettings
})) & {
  /** Told of what a client does about trouble. Default: nobody. */
  readonly logger?: Logger
  /** Parts of the world to use instead of this machine's: for tests and simulations. */
  readonly world?: Partial<ClientWorld>
}

function newClient(given: ClientOptions | undefined, closesWithLast: boolean, otherNames: readonly string[] = []): Client {
  // Who calls it without types and without options is told which one is missing.
  const options: Partial<ClientOptions> = given ?? {}
  refuseUnknown(options, [...connectionOptionNames, ...otherNames])
  // A thread of this machine is at home in no other world.
  const { threads, ...machine } = thisMachine()
  const world = { ...machine, ...(options.world === undefined && threads !== undefined ? { threads } : {}), ...options.world, ...(options.logger === undefined ? {} : { logger: options.logger }) }
  return new Client(world, clientSettings(options), closesWithLast)
}

/** A client whose producers, consumers and admins share connections. Throws MR_CLIENT_SETTING. */
export function createClient(options: ClientOptions): Client {
  return newClient(options, false)
}

/** A producer with a client of its own, which is closed with it. Throws MR_CLIENT_SETTING. */
export function createProducer(options: ClientOptions & ProducerOptions): Producer {
  return newClient(options, true, producerOptionNames).producer(optionsNamed(options, producerOptionNames))
}

/** A consumer with a client of its own, which is closed with it; a member of a group where `groupId` names one. Throws MR_CLIENT_SETTING. */
export function createConsumer(options: ClientOptions & ConsumerOptions & GroupOptions): GroupConsumer
export function createConsumer(options: ClientOptions & ConsumerOptions): Consumer
export function createConsumer(options: ClientOptions & ConsumerOptions & Partial<GroupOptions>): Consumer | GroupConsumer {
  return newClient(options, true, consumerOptionNames).consumer(optionsNamed(options, consumerOptionNames))
}

/** An admin with a client of its own, which is closed with it. Throws MR_CLIENT_SETTING. */
export function createAdmin(options: ClientOptions): Admin {
  return newClient(options, true).admin()
}

export { Admin } from './admin/admin.ts'
export { type AdminOptions } from './admin/admin-context.ts'
export {
  type AlterConfigsOptions, type ConfigChange, type ConfigChanges, type ConfigDescription, type ConfigEntry, type ConfigResource, type ConfigSource, type DescribeConfigsOptions,
} from './admin/configs.ts'
export {
  type GroupDescription, type GroupListing, type GroupMemberDescription, type ListGroupsOptions,
} from './admin/groups.ts'
export {
  type ClusterDescription, type ListOffsetsOptions, type LogStart, type OffsetFound, type OffsetWanted, type RecordsToDelete,
} from './admin/partitions.ts'
export {
  type CreatedTopic, type CreateTopicsOptions, type ListTopicsOptions, type MorePartitions, type NewTopic, type TopicDescription, type TopicListing,
} from './admin/topics.ts'
export { type Bytes } from './bytes-of.ts'
export { Client } from './client.ts'
export { type ConnectionSettings, type InProcessSettings, type SaslOptions } from './client-options.ts'
export { type ClientWorld } from './client-world.ts'
export { type OffsetAnswer } from './cluster/offset-lookup.ts'
export { type NodeInfo, type PartitionInfo } from './cluster/topic-info.ts'
export { type Start } from './consumer/assigned-partition.ts'
export { Consumer, type Assignment, type PollOptions, type QueryOptions, type TopicPartition } from './consumer/consumer.ts'
export { ConsumerRecord } from './consumer/consumer-record.ts'
export { type ConsumerOptions, type OffsetReset } from './consumer/consumer-settings.ts'
export { type CommittedOffset, type OffsetToCommit } from './cluster/group-offsets.ts'
export {
  GroupConsumer, type CommitOptions, type GroupMembership, type LeaveOptions, type PartitionLag, type Re2Pattern,
} from './group/group-consumer.ts'
export { type AssignorName, type GroupOffsetReset, type GroupOptions } from './group/group-settings.ts'
export { type RebalanceListeners } from './group/membership.ts'
export { partitionOfKey, type Partitioner } from './producer/partitioner.ts'
export { Producer, type CloseOptions } from './producer/producer.ts'
export { type HeadersToSend, type ProducerRecord, type RecordMetadata } from './producer/producer-record.ts'
export { type ProducerOptions } from './producer/producer-settings.ts'
export { avro, type AvroOptions, type RegisteredAvroOptions } from './typed/avro/avro-serde.ts'
export { json, type JsonOptions, type RegisteredJsonOptions } from './typed/json/json-serde.ts'
export { type StandardSchema } from './typed/json/standard-schema.ts'
export { protobuf, type ProtobufOptions, type ProtoMessage, type RegisteredProtobufOptions } from './typed/protobuf/protobuf-serde.ts'
export { schemaRegistry } from './typed/registry/http-schema-registry.ts'
export { type RegistryUse, type SubjectNames } from './typed/registry/registered-schema.ts'
export { type RegistryAuth, type RegistryWorld, type SchemaRegistryOptions } from './typed/registry/registry-settings.ts'
export { type Compatibility, type Schema, type SchemaReference, type SchemaRegistry, type SchemaType, type SubjectVersion } from './typed/registry/schema-registry.ts'
export { bytes, text } from './typed/plain-serdes.ts'
export { SerdeFault, type Serde, type SerdePlace } from './typed/serde.ts'
export { typedConsumer, TypedConsumer, type TypedConsumerOptions } from './typed/typed-consumer.ts'
export { TypedRecord } from './typed/typed-record.ts'
export { topic, TypedTopic, type AnyTypedTopic, type RecordOf, type RecordToSend, type TopicSerdes } from './typed/typed-topic.ts'
export { isUndecodable, type UndecodableRecordError } from './typed/undecodable-record.ts'
export { isMillraceError, MillraceError, type ErrorCode } from '../kernel/errors/index.ts'
