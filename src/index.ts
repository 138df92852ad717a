/**
 * The public names of millrace: a broker, its plugins, and its client. An import loads what is needed to say what a broker is made of and to be a
 * client of one; the broker itself, with all that it is composed of, comes with the first `createBroker`.
 */
import { type Broker } from './broker/broker.ts'
import { type BrokerOptions } from './broker/broker-options.ts'

/**
 * A broker in this process. Nothing runs until `start`. Rejects with one MillraceError that names the option, the plugin or the
 * setting that is wrong, and what to do about it.
 */
export async function createBroker(options: BrokerOptions = {}): Promise<Broker> {
  const broker = await import('./broker/create-broker.ts')
  return await broker.createBroker(options)
}

export { Broker } from './broker/broker.ts'
export { defineConfig, type BrokerOptions, type PluginChoice, type PresetName } from './broker/broker-options.ts'
export {
  Admin, avro, bytes, Client, Consumer, ConsumerRecord, createAdmin, createClient, createConsumer, createProducer, GroupConsumer,
  isMillraceError, isUndecodable, json, MillraceError, partitionOfKey, Producer, protobuf, schemaRegistry, SerdeFault, text, topic,
  typedConsumer, TypedConsumer, TypedRecord, TypedTopic,
} from './client/index.ts'
export type {
  AdminOptions, AlterConfigsOptions, AnyTypedTopic, Assignment, AssignorName, AvroOptions, Bytes, ClientOptions, ClientWorld, CloseOptions,
  ClusterDescription, CommitOptions, CommittedOffset, Compatibility, ConfigChange, ConfigChanges, ConfigDescription, ConfigEntry,
  ConfigResource, ConfigSource, ConnectionSettings, ConsumerOptions, CreatedTopic, CreateTopicsOptions, DescribeConfigsOptions, ErrorCode,
  GroupDescription, GroupListing, GroupMemberDescription, GroupMembership, GroupOffsetReset, GroupOptions, HeadersToSend, InProcessSettings,
  JsonOptions, LeaveOptions, ListGroupsOptions, ListOffsetsOptions, ListTopicsOptions, LogStart, MorePartitions, NewTopic, NodeInfo,
  OffsetAnswer, OffsetFound, OffsetReset, OffsetToCommit, OffsetWanted, Partitioner, PartitionInfo, PartitionLag, PollOptions,
  ProducerOptions, ProducerRecord, ProtobufOptions, ProtoMessage, QueryOptions, Re2Pattern, RebalanceListeners, RecordMetadata, RecordOf,
  RecordsToDelete, RecordToSend, RegisteredAvroOptions, RegisteredJsonOptions, RegisteredProtobufOptions, RegistryAuth, RegistryUse,
  RegistryWorld, SaslOptions, Schema, SchemaReference, SchemaRegistry, SchemaRegistryOptions, SchemaType, Serde, SerdePlace, StandardSchema,
  Start, SubjectNames, SubjectVersion, TopicDescription, TopicListing, TopicPartition, TopicSerdes, TypedConsumerOptions,
  UndecodableRecordError,
} from './client/index.ts'
export { errorTable } from './kernel/errors/index.ts'
export { definePlugin, type Plugin, type PluginDefinition } from './kernel/plugin/define-plugin.ts'
export { every, maybe, token, type Token } from './kernel/plugin/token.ts'
