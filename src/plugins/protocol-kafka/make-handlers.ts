import { type BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type CoordinatorFinder } from '../../kernel/ports/coordinator-finder.ts'
import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type ProtocolHandler } from '../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { ConfigAlterer } from './config-alterer.ts'
import { type ProtocolKafkaConfig } from './config.ts'
import { ProduceHandler } from './handlers/00-produce.ts'
import { FetchHandler } from './handlers/01-fetch.ts'
import { ListOffsetsHandler } from './handlers/02-list-offsets.ts'
import { MetadataHandler } from './handlers/03-metadata.ts'
import { FindCoordinatorHandler } from './handlers/10-find-coordinator.ts'
import { CreateTopicsHandler } from './handlers/19-create-topics.ts'
import { DeleteTopicsHandler } from './handlers/20-delete-topics.ts'
import { DeleteRecordsHandler } from './handlers/21-delete-records.ts'
import { InitProducerIdHandler } from './handlers/22-init-producer-id.ts'
import { OffsetForLeaderEpochHandler } from './handlers/23-offset-for-leader-epoch.ts'
import { DescribeConfigsHandler } from './handlers/32-describe-configs.ts'
import { AlterConfigsHandler } from './handlers/33-alter-configs.ts'
import { DescribeLogDirsHandler } from './handlers/35-describe-log-dirs.ts'
import { CreatePartitionsHandler } from './handlers/37-create-partitions.ts'
import { ElectLeadersHandler } from './handlers/43-elect-leaders.ts'
import { IncrementalAlterConfigsHandler } from './handlers/44-incremental-alter-configs.ts'
import { AlterPartitionReassignmentsHandler } from './handlers/45-alter-partition-reassignments.ts'
import { ListPartitionReassignmentsHandler } from './handlers/46-list-partition-reassignments.ts'
import { DescribeClusterHandler } from './handlers/60-describe-cluster.ts'
import { DescribeProducersHandler } from './handlers/61-describe-producers.ts'
import { ListConfigResourcesHandler } from './handlers/74-list-config-resources.ts'
import { DescribeTopicPartitionsHandler } from './handlers/75-describe-topic-partitions.ts'
import { ProducerIdPool } from './producer-id-pool.ts'
import { type ServingTools } from './serving-tools.ts'
import { TopicCreator } from './topic-creator.ts'

export interface HandlerParts {
  readonly config: ProtocolKafkaConfig
  readonly tools: ServingTools
  readonly settings: BrokerSettings
  readonly identity: BrokerIdentity
  readonly metadata: ClusterMetadata
  readonly controller: Controller
  readonly store: Pick<LogStore, 'directories'>
  readonly compression: Compression
  readonly logger: Logger
  readonly finders: readonly CoordinatorFinder[]
}

/** The handlers of this plugin, but for ApiVersions, which has to know all handlers of the broker. */
export function makeHandlers({ config, tools, settings, identity, metadata, controller, store, compression, logger, finders }: HandlerParts): ProtocolHandler[] {
  const alterer = new ConfigAlterer(controller, identity.nodeId, tools, logger)
  return [
    new ProduceHandler({ tools, metadata, compression, logger, decompressedBytesMax: config.decompressedBytesMax }),
    new FetchHandler({ tools, metadata, logger, fetchBytesMax: settings.integer('fetch.max.bytes'), outstandingBytesMax: config.fetchedBytesMax }),
    new ListOffsetsHandler(tools, logger),
    new MetadataHandler({ metadata, settings, topics: tools.topics, creator: new TopicCreator(controller, tools, logger) }),
    new FindCoordinatorHandler(tools, metadata, finders, identity.nodeId),
    new CreateTopicsHandler(controller, tools, logger),
    new DeleteTopicsHandler(controller, settings, tools, logger),
    new DeleteRecordsHandler(tools, logger),
    new InitProducerIdHandler(new ProducerIdPool(controller, identity.nodeId, tools), logger),
    new OffsetForLeaderEpochHandler(tools),
    new DescribeConfigsHandler(metadata, settings, tools.topics),
    new AlterConfigsHandler(alterer),
    new DescribeLogDirsHandler(store, metadata),
    new CreatePartitionsHandler(controller, tools, logger),
    new ElectLeadersHandler(metadata, tools.topics),
    new IncrementalAlterConfigsHandler(alterer),
    new AlterPartitionReassignmentsHandler(metadata),
    new ListPartitionReassignmentsHandler(),
    new DescribeClusterHandler(metadata),
    new DescribeProducersHandler(tools),
    new ListConfigResourcesHandler(metadata),
    new DescribeTopicPartitionsHandler(metadata, settings, tools.topics),
  ]
}
