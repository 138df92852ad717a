#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { configCommand } from './commands/config.ts'
import { logCommand } from './commands/log-inspect.ts'
import { notYetCommands } from './commands/not-yet.ts'
import { startCommand } from './commands/start.ts'
import { describeError, exitCodeOf } from './output.ts'

const version = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version

function program(): Command {
  const main = new Command('millrace')
    .description('A message broker that speaks the Kafka protocol.')
    .version(version, '-V, --version')
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
  startCommand(main)
  configCommand(main)
  logCommand(main)
  notYetCommands(main)
  return main
}

/** A reader that went away (`| head`) is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => { process.exit(error.code === 'EPIPE' ? 0 : 1) })

try {
  await program().parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed what was wrong, or the help that was asked for.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else {
    process.stderr.write(`${describeError(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
}
