#!/usr/bin/env node
import { CommanderError } from 'commander'
import { exitCodeOf, printError } from './output.ts'
import { program } from './program.ts'

/** A reader that went away (`| head`) is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => { process.exit(error.code === 'EPIPE' ? 0 : 1) })

try {
  await program().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed what was wrong, or the help that was asked for.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else {
    printError(error)
    process.exitCode = exitCodeOf(error)
  }
}
