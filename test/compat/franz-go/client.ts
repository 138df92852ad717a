import { type CompatClient, codecs } from '../client.ts'
import { peerFile } from '../peers.ts'
import { outputOf } from '../process.ts'
import { recordProgram } from '../record-program.ts'

const program = (): string => peerFile('franz-go', 'records')!

/** franz-go through a Go program of ours: idempotent by default, consumer with partitions assigned by hand. */
export const franzGo: CompatClient = {
  name: 'franz-go',
  missing: () => peerFile('franz-go', 'records') ? undefined : 'franz-go could not be built',
  version: () => outputOf(program(), ['version']),
  codecs,
  writes: 'text',
  writesBinary: true,
  reads: ['text', 'tagged', 'binary', 'counted'],
  ...recordProgram(program),
}
