import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { clusterCommand } from './commands/cluster.ts'
import { configCommand } from './commands/config.ts'
import { consumeCommand } from './commands/consume.ts'
import { groupCommand } from './commands/group.ts'
import { logCommand } from './commands/log-inspect.ts'
import { notYetCommands } from './commands/not-yet.ts'
import { produceCommand } from './commands/produce.ts'
import { startCommand } from './commands/start.ts'
import { topicCommand } from './commands/topic.ts'
import { errorLine } from './output.ts'

const version = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version

/** Every command with its options and help. Parsing throws a CommanderError where commander has printed what was wrong, or the help asked for. */
export function program(): Command {
  const main = new Command('millrace')
    .description('A message broker that speaks the Kafka protocol, and its tools.')
    .version(version, '-V, --version')
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `
Try it
  millrace start                                        a broker at 127.0.0.1:9092, data in ./data
  millrace topic create orders --partitions 3           and in a second terminal
  printf 'alice:one\\nbob:two\\n' | millrace produce orders --key-separator :
  millrace consume orders

Each command explains itself with --help. Exit codes: 0 done, 1 failed, 2 wrong use.`)
  startCommand(main)
  topicCommand(main)
  produceCommand(main)
  consumeCommand(main)
  groupCommand(main)
  clusterCommand(main)
  configCommand(main)
  logCommand(main)
  notYetCommands(main)
  pointToHelp(main, 'millrace')
  return main
}

/** Whatever was mistyped or left out, its message ends with where to look. */
function pointToHelp(command: Command, path: string): void {
  command.configureOutput({
    outputError: (text, write) => {
      const said = text.replace(/^error: /, '').trimEnd().replace(/\.$/, '')
      const what = said.startsWith('unknown command') ? 'lists those there are' : 'shows what it takes'
      write(`${errorLine('MR_CLI_USAGE', `${said}; \`${path} --help\` ${what}`)}\n`)
    },
  })
  for (const each of command.commands) pointToHelp(each, `${path} ${each.name()}`)
}
