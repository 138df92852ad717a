import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { type CompatClient, codecs } from '../client.ts'
import { compatDir } from '../peers.ts'
import { outputOf } from '../process.ts'
import { recordProgram } from '../record-program.ts'

/** Debian's Python; another one in PATH does not see Debian's modules. */
const python = '/usr/bin/python3'
const script = join(compatDir, 'kafka-python', 'records.py')

/** kafka-python, a client in pure Python of 2020: old versions of every request, partitions assigned by hand. */
export const kafkaPython: CompatClient = {
  name: 'kafka-python',
  missing: () => spawnSync(python, ['-c', 'import kafka']).status === 0 ? undefined : "Debian's python3-kafka is not installed",
  version: () => outputOf(python, [script, 'version']),
  codecs,
  writes: 'text', // not `binary`: it refuses null header values
  reads: ['text', 'tagged', 'binary', 'counted'],
  ...recordProgram(() => python, [script]),
}
