import { type CompressionCodec, codecNamed, type CompressionName } from '../../kernel/record/compression-codec.ts'
import { durationMs, integer, settingError } from '../client-options.ts'
import { type Partitioner } from './partitioner.ts'

/**
 * How records are sent. What is out of its range is refused with MR_CLIENT_SETTING, which names the option. Durations are whole numbers of milliseconds up to
 * 2147483647, sizes whole numbers of bytes.
 */
export interface ProducerOptions {
  /**
   * What an acknowledgement means: `all`, the in-sync replicas have it (and, on a millrace topic with durability `fsync`, on disk); 1, the leader has it;
   * 0, it was sent, and whether it arrived nobody says. Default `all`.
   */
  readonly acks?: 'all' | 0 | 1
  /**
   * Each record is stored once and in order, whatever is sent twice on the way. Needs acks `all`. Default: on with acks `all`, where the broker
   * can; `true` insists.
   */
  readonly idempotence?: boolean
  /**
   * Of batches as they are sent and, with the topic's default `compression.type`, stored: `none`, `gzip`, `snappy`, `lz4` or `zstd`. One whose package is not
   * installed is refused with MR_CLIENT_SETTING. Default `none`.
   */
  readonly compression?: CompressionName
  /** Gzip 1 to 9, lz4 1 to 17, zstd -131072 to 22; what is beyond is brought into the range, and snappy has none. Default: the codec's own. */
  readonly compressionLevel?: number
  /** How long a batch waits for more records. 0 sends at the end of the turn; under load batches fill up anyway. Default 0. */
  readonly lingerMs?: number
  /** A batch is sent when it has so many bytes: 1 to 1073741824, and at most `requestBytesMax`. Default 262144. */
  readonly batchBytesMax?: number
  /** The largest request, and so the largest record, in bytes: 1024 to 1073741824. Default 1048576, as brokers accept. */
  readonly requestBytesMax?: number
  /** Requests under way to one broker: 1 to 5 with idempotence, else 1 to 100. Default 5. */
  readonly inFlightMax?: number
  /** Records waiting to be sent or acknowledged, in bytes, from 1. Above it `send` waits. Default 67108864. */
  readonly bufferBytesMax?: number
  /** How long `send` waits for room or for the topic to be known, before it rejects; 0 does not wait. Default 60000. */
  readonly blockMsMax?: number
  /**
   * How long a record is tried for, from 1, after its batch was begun; a request under way then may still run out. Then `send` rejects with
   * MR_CLIENT_DELIVERY_TIMEOUT. Default 120000.
   */
  readonly deliveryTimeoutMs?: number
  /** Chooses partitions. Default: Kafka's: murmur2 of the key; without a key one partition after another, a batch each. */
  readonly partitioner?: Partitioner
}

export interface ProducerSettings {
  readonly acks: -1 | 0 | 1
  readonly idempotence: 'never' | 'if possible' | 'always'
  readonly codec: CompressionCodec
  readonly compressionLevel: number | undefined
  readonly lingerMs: number
  readonly batchBytesMax: number
  readonly requestBytesMax: number
  readonly inFlightMax: number
  readonly bufferBytesMax: number
  readonly blockMsMax: number
  readonly deliveryTimeoutMs: number
  readonly partitioner: Partitioner | undefined
}

/** Brokers remember so many batches of a producer to recognise what comes twice. */
const inFlightIdempotentMax = 5

/** Throws MR_CLIENT_SETTING. */
export function producerSettings(given: ProducerOptions): ProducerSettings {
  const acks = given.acks ?? 'all'
  if (acks !== 'all' && acks !== 0 && acks !== 1) throw settingError('acks', `${String(acks)} is not one of all, 1, 0`)
  if (given.idempotence === true && acks !== 'all') throw settingError('idempotence', 'it needs acks: all')
  const idempotence = given.idempotence === true ? 'always' : given.idempotence === undefined && acks === 'all' ? 'if possible' : 'never'
  const codec = codecNamed(given.compression ?? 'none')
  if (codec === undefined) throw settingError('compression', `${String(given.compression)} is not one of none, gzip, snappy, lz4, zstd`)
  const inFlightMost = idempotence === 'never' ? 100 : inFlightIdempotentMax
  const requestBytesMax = integer('requestBytesMax', given.requestBytesMax, 1_048_576, 1024, 0x4000_0000)
  return {
    acks: acks === 'all' ? -1 : acks,
    idempotence,
    codec,
    compressionLevel: given.compressionLevel,
    lingerMs: integer('lingerMs', given.lingerMs, 0, 0, 0x7fff_ffff),
    batchBytesMax: Math.min(requestBytesMax, integer('batchBytesMax', given.batchBytesMax, 262_144, 1, 0x4000_0000)),
    requestBytesMax,
    inFlightMax: integer('inFlightMax', given.inFlightMax, inFlightIdempotentMax, 1, inFlightMost),
    bufferBytesMax: integer('bufferBytesMax', given.bufferBytesMax, 67_108_864, 1, Number.MAX_SAFE_INTEGER),
    blockMsMax: integer('blockMsMax', given.blockMsMax, 60_000, 0, 0x7fff_ffff),
    deliveryTimeoutMs: durationMs('deliveryTimeoutMs', given.deliveryTimeoutMs, 120_000),
    partitioner: given.partitioner,
  }
}
