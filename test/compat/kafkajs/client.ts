import { join } from 'node:path'

import { type CompatClient, codecs } from '../client.ts'
import { compatDir } from '../peers.ts'
import { outputOf } from '../process.ts'
import { recordProgram } from '../record-program.ts'

const args = ['--import', 'tsx', join(compatDir, 'kafkajs', 'records.ts')]

/** kafkajs with npm's codecs registered. It reads in groups only. */
export const kafkajs: CompatClient = {
  name: 'kafkajs',
  missing: () => undefined,
  version: () => outputOf(process.execPath, [...args, 'version']),
  codecs,
  writes: 'text',
  reads: ['text', 'tagged', 'counted'],
  readsInGroup: true,
  ...recordProgram(() => process.execPath, args),
}
