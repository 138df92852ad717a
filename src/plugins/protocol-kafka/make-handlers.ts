import { type BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { type Compression } from '../../kernel/ports/compression.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type ProtocolHandler } from '../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { type ProtocolKafkaConfig } from './config.ts'
import { ProduceHandler } from './handlers/00-produce.ts'
import { FetchHandler } from './handlers/01-fetch.ts'
import { MetadataHandler } from './handlers/03-metadata.ts'
import { type ServingTools } from './serving-tools.ts'
import { TopicCreator } from './topic-creator.ts'

export interface HandlerParts {
  readonly config: ProtocolKafkaConfig
  readonly tools: ServingTools
  readonly settings: BrokerSettings
  readonly identity: BrokerIdentity
  readonly metadata: ClusterMetadata
  readonly controller: Controller
  readonly compression: Compression
  readonly logger: Logger
}

/** The handlers of this plugin, but for ApiVersions, which has to know all handlers of the broker. */
export function makeHandlers({ config, tools, settings, metadata, controller, compression, logger }: HandlerParts): ProtocolHandler[] {
  return [
    new ProduceHandler({ tools, metadata, compression, logger, decompressedBytesMax: config.decompressedBytesMax }),
    new FetchHandler({ tools, metadata, logger, fetchBytesMax: settings.integer('fetch.max.bytes'), outstandingBytesMax: config.fetchedBytesMax }),
    new MetadataHandler({ metadata, settings, creator: new TopicCreator(controller, tools, logger) }),
  ]
}
