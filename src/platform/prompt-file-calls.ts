import * as fs from 'node:fs'
import { systemFileCalls, type SystemFileCalls } from './system-file-calls.ts'

/** Calls of a thread that may wait for a disk: reads and syncs are made at once, and not in the thread pool. */
export const promptFileCalls: SystemFileCalls = {
  ...systemFileCalls,
  read: readAtOnce as typeof fs.read,
  fdatasync: syncAtOnce as typeof fs.fdatasync,
}

function readAtOnce(descriptor: number, target: Uint8Array, at: number, length: number, position: number, done: (error: unknown, bytes: number) => void): void {
  let bytes
  try {
    bytes = fs.readSync(descriptor, target, at, length, position)
  } catch (error) {
    return done(error, 0)
  }
  done(null, bytes)
}

function syncAtOnce(descriptor: number, done: (error: unknown) => void): void {
  let failure: unknown = null
  try {
    fs.fdatasyncSync(descriptor)
  } catch (error) {
    failure = error
  }
  done(failure)
}
