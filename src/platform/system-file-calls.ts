import * as fs from 'node:fs'

/** The calls on an open file that this room makes. Named so that a test can put short writes and failures in their place. */
export type SystemFileCalls = Pick<
  typeof fs,
  'closeSync' | 'fdatasync' | 'fdatasyncSync' | 'fstatSync' | 'ftruncateSync' | 'read' | 'readSync' | 'writeSync' | 'writevSync'
>

export const systemFileCalls: SystemFileCalls = fs
