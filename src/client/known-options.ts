import { suggestion } from '../base/suggestion.ts'
import { settingError, type ConnectionSettings } from './client-options.ts'
import { type ConsumerOptions } from './consumer/consumer-settings.ts'
import { type GroupOptions } from './group/group-settings.ts'
import { type ProducerOptions } from './producer/producer-settings.ts'

type Names<K extends PropertyKey> = Readonly<Record<K, true>>

/** Written as objects, so that the compiler finds a name that is missing here. */
const ofConnection: Names<keyof ConnectionSettings | 'inProcess' | 'logger' | 'world'> = {
  bootstrap: true, clientId: true, tls: true, sasl: true, rack: true, connectTimeoutMs: true, requestTimeoutMs: true, retryBackoffMs: true,
  retryBackoffMsMax: true, metadataAgeMsMax: true, responseBytesMax: true, inProcess: true, logger: true, world: true,
}
const ofProducer: Names<keyof ProducerOptions> = {
  acks: true, idempotence: true, compression: true, compressionLevel: true, lingerMs: true, batchBytesMax: true, requestBytesMax: true,
  inFlightMax: true, bufferBytesMax: true, blockMsMax: true, deliveryTimeoutMs: true, partitioner: true,
}
const ofGroup: Names<keyof GroupOptions> = {
  groupId: true, groupInstanceId: true, groupProtocol: true, assignors: true, serverAssignor: true, sessionTimeoutMs: true, heartbeatIntervalMs: true,
  pollIntervalMsMax: true, offsetReset: true, autoCommit: true, autoCommitIntervalMs: true, heartbeatThread: true,
}
const ofConsumer: Names<keyof ConsumerOptions> = {
  onOffsetOutOfRange: true, isolation: true, checkCrcs: true, fetchWaitMsMax: true, fetchBytesMin: true, fetchBytesMax: true, partitionBytesMax: true,
  prefetchBytesMax: true, decompressedBytesMax: true,
}
export const connectionOptionNames = Object.keys(ofConnection)
export const producerOptionNames = Object.keys(ofProducer)
export const groupOptionNames = Object.keys(ofGroup)
export const consumerOptionNames = [...Object.keys(ofConsumer), ...groupOptionNames]

/** Who writes without types would not learn otherwise that a setting was never heard of. Throws MR_CLIENT_SETTING. */
export function refuseUnknown(given: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !known.includes(name)) throw settingError(name, `it is unknown here${suggestion(name, known)}`)
  }
}

/** Those of the options that have one of these names. */
export function optionsNamed<O extends object>(given: O, names: readonly string[]): O {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name))) as O
}
