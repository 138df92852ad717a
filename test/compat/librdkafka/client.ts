import { type CompatClient, codecs } from '../client.ts'
import { peerFile } from '../peers.ts'
import { outputOf } from '../process.ts'
import { recordProgram } from '../record-program.ts'

const program = (): string => peerFile('librdkafka', 'records')!

/** librdkafka 2.15 through a C program of ours: idempotent producer, consumer with partitions assigned by hand. */
export const librdkafka: CompatClient = {
  name: 'librdkafka',
  missing: () => peerFile('librdkafka', 'records') ? undefined : 'librdkafka could not be built',
  version: () => outputOf(program(), ['version']),
  codecs,
  writes: 'text',
  writesBinary: true,
  reads: ['text', 'tagged', 'binary', 'counted'],
  ...recordProgram(program),
}
