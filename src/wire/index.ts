/** The Kafka protocol as pure codecs: bytes <-> typed messages. No sockets, no clocks, no state but the compiled codecs and a text cache. */
export { BytesReader } from '../base/bytes-reader.ts'
export { BytesWriter } from '../base/bytes-writer.ts'
export { apiKeys, apiName, isFlexibleVersion, isKnownApiKey, type ApiKey, type ApiName } from './api-keys.ts'
export {
  consumerAssignment, consumerSubscription, decodeAssignment, decodeSubscription, encodeAssignment, encodeSubscription,
  type ConsumerAssignment, type ConsumerSubscription,
} from './consumer-protocol.ts'
export { FrameMemory } from './frame-memory.ts'
export { beginFrame, endFrame, frameSizeBytes, FrameSplitter, type FrameSplitterOptions, type FrameStart } from './framing.ts'
export { writeRequestFrame, writeResponseFrame, type RequestEnvelope, type ResponseEnvelope } from './frames.ts'
export {
  kafkaError, kafkaErrorName, kafkaErrors, kafkaErrorTable, type KafkaError, type KafkaErrorCode, type KafkaErrorName,
} from './kafka-error-codes.ts'
export * from './messages/index.ts'
export { readRequestHeader, writeRequestHeader, type RequestHeader } from './request-header.ts'
export { hasFlexibleResponseHeader, readCorrelationId, readResponseHeaderRest, writeResponseHeader } from './response-header.ts'
export { codecFor, completeMessage, type MessageCodec } from './schema/compile-codec.ts'
/** What messages are defined with, e.g. `fields.int32('0+')`. */
export * as fields from './schema/definition.ts'
export {
  defineApi, defineMessage,
  type Api, type DraftOf, type MessageDefinition, type MessageOf, type RequestDraftOf, type RequestOf, type ResponseDraftOf, type ResponseOf,
} from './schema/message.ts'
export { decodeVersioned, encodeVersioned } from './versioned-data.ts'
