import { z } from 'zod'
import { decompressedBytesMax } from '../../kernel/record/record-limits.ts'

/** What has no name in Kafka. Listeners, limits and timeouts that Kafka knows are broker settings under Kafka's names. */
export const protocolKafkaConfig = z.object({
  insecure: z.boolean().default(false)
    .describe('Allows to listen beyond this machine although nobody has to say who they are.'),
  requestsPerConnectionMax: z.number().int().min(1).max(100_000).default(2000)
    .describe('Requests of one connection that may be under way; above it the connection is not read.'),
  requestElementsMax: z.number().int().min(1000).max(100_000_000).default(20_000)
    .describe('Elements that all arrays of one request may have together; a request with more is refused before it is read to the end.'),
  outputBytesMax: z.number().int().min(65_536).default(8 * 1024 * 1024)
    .describe('Bytes of answers that a connection may leave unread before no further request of it is handled.'),
  fetchedBytesMax: z.number().int().min(1024 * 1024).default(256 * 1024 * 1024)
    .describe('Bytes of records in answers on their way; above it a fetch gets its first batch alone, and the next on its connection waits for it to leave.'),
  decompressedBytesMax: z.number().int().min(1024).default(decompressedBytesMax)
    .describe('Bytes that the records of one produced batch may decompress to.'),
  requestReadTimeoutMs: z.number().int().min(1000).default(120_000)
    .describe('A connection is closed when a request on it has not arrived in full after so many milliseconds.'),
  stopGraceMs: z.number().int().min(0).max(60_000).default(3000)
    .describe('At a stop, how long requests in hand may take to be answered.'),
  warmup: z.boolean().default(false)
    .describe('Runs made-up requests through codecs and checks after the start, so that the first clients do not wait for the compiler.'),
})

export type ProtocolKafkaConfig = z.output<typeof protocolKafkaConfig>
