import { type Command } from 'commander'
import pc from 'picocolors'
import { loadConfigFile } from '../../broker/config-file.ts'
import { composeBroker } from '../../broker/index.ts'
import { brokerConfigTable } from '../../kernel/config/broker-config-table.ts'
import { describePluginSettings } from '../../kernel/plugin/plugin-settings.ts'
import { NodeFileSystem } from '../../platform/node-file-system.ts'
import { print, printJson, printTable, type OutputFormat } from '../output.ts'
import { addCompositionOptions, composeFromFlags, type StartFlags } from './start.ts'

interface PrintFlags extends StartFlags {
  readonly output: OutputFormat
  readonly all?: boolean
}

export function configCommand(program: Command): void {
  const config = program.command('config').summary('check and show the configuration').description('Checks and shows what a broker would run with.')
  addCompositionOptions(config.command('print').summary('every setting with its value and source')
    .description('Prints every setting that a broker started with the same options would have: its value, and where it comes from.'))
    .option('--all', 'settings that have no effect here too')
    .option('-o, --output <format>', 'text or json', 'text')
    .action(async (flags: PrintFlags) => { await printConfig(flags) })
  config.command('lint').summary('check a configuration file').argument('<file>')
    .description('Checks a configuration file: options, settings, plugins, and that they fit together. Starts nothing.')
    .option('-o, --output <format>', 'text or json', 'text')
    .action(async (file: string, flags: { output: OutputFormat }) => { await lint(file, flags.output) })
}

async function printConfig(flags: PrintFlags): Promise<void> {
  const composed = await composeFromFlags(flags)
  const rows = new Map(brokerConfigTable.map((row) => [row.name, row]))
  const broker = composed.settings.entries()
    .map((entry) => ({ ...entry, doc: rows.get(entry.name)?.doc ?? '', sensitive: rows.get(entry.name)?.type === 'password', works: rows.get(entry.name)?.effect === 'works' }))
    .filter((entry) => flags.all === true || entry.works || entry.source !== 'default')
    .map(({ sensitive, ...entry }) => ({ ...entry, value: sensitive && entry.value !== '' ? '(hidden)' : entry.value }))
  const plugins = composed.plugins.flatMap((plugin) => describePluginSettings(plugin, composed.pluginSettings[plugin.name]))
  if (flags.output === 'json') {
    printJson({ config: composed.configPath ?? null, broker, plugins })
    return
  }
  print(`configuration file: ${composed.configPath ?? 'none'}\n`)
  printTable(['broker setting', 'value', 'source'], broker.map((each) => [each.name, each.value === '' ? pc.dim('(none)') : each.value, each.source]))
  print('')
  printTable(['plugin', 'setting', 'value', 'source', 'meaning'], plugins.map((each) => [each.plugin, each.key, JSON.stringify(each.value) ?? pc.dim('(none)'), each.source, pc.dim(each.doc)]))
}

async function lint(path: string, output: OutputFormat): Promise<void> {
  const directory = process.cwd()
  const loaded = await loadConfigFile(new NodeFileSystem(), path, directory)
  const composed = await composeBroker({ file: loaded.options, directory })
  // Making it runs every check of the host, and starts nothing.
  composed.create()
  const warnings = composed.settings.warnings
  if (output === 'json') {
    printJson({ config: loaded.path, ok: true, warnings })
    return
  }
  for (const warning of warnings) print(`${pc.yellow('warning')} ${warning}`)
  print(`${loaded.path}: ok, ${composed.plugins.length} plugins`)
}
