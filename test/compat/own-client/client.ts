import { join } from 'node:path'

import { type CompatClient, codecs } from '../client.ts'
import { compatDir } from '../peers.ts'
import { recordProgram } from '../record-program.ts'

const args = ['--import', 'tsx', join(compatDir, 'own-client', 'records.ts')]

/** millrace's own client, so that it is held to what the foreign ones read and write. */
export const ownClient: CompatClient = {
  name: 'own-client',
  missing: () => undefined,
  version: async () => 'this checkout',
  codecs,
  writes: 'text',
  writesBinary: true,
  reads: ['text', 'tagged', 'binary', 'counted'],
  ...recordProgram(() => process.execPath, args),
}
