#!/usr/bin/env node
import { writeSync } from 'node:fs'
import { CommanderError } from 'commander'
import { errorLine, exitCodeOf, printError } from './output.ts'
import { program } from './program.ts'

/** A reader that went away (`| head`) is no error; a disk that is full is one. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  writeSync(2, `${errorLine('MR_FILE_FAILED', `write standard output: ${error.message}`)}\n`)
  process.exit(1)
})

/** Nothing is left that could happen, and the command is not done: Node would end it without a word. A configuration may do that to us. */
let isDone = false
process.once('beforeExit', () => {
  if (isDone) return
  writeSync(2, `${errorLine('MR_CLI_UNEXPECTED', 'the command waits for something that can not happen any more; does a module of the configuration, or a plugin, await what never comes?')}\n`)
  process.exit(1)
})

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
isDone = true
