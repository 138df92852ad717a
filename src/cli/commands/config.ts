import { type Command } from 'commander'
import pc from 'picocolors'
import { outputOption } from '../network-options.ts'
import type { CompositionDescription } from '../../broker/composition-description.ts'
import type { ConfigFault } from '../../broker/config-fault.ts'
import { errorLine, plural, print, printJson, printTable, printWarning, UsageError, type OutputFormat } from '../output.ts'
import { addCompositionOptions, commandDefaults, composeFromFlags, type StartFlags } from './start.ts'

interface PrintFlags extends StartFlags {
  readonly output: OutputFormat
  readonly all?: boolean
}

export function configCommand(program: Command): void {
  const config = program.command('config').summary('check and show the configuration').description('Checks and shows what a broker would run with.')
  addCompositionOptions(config.command('print').summary('the plugins, and every setting with its value and source')
    .description('Prints what a broker started with the same options would be made of and have: its plugins, every setting with its value, and where each comes from. With json, what a setting means, too.'))
    .option('--all', 'settings that have no effect here, too (json has them always)')
    .addOption(outputOption())
    .addHelpText('after', `
Examples
  millrace config print
  millrace config print --config millrace.config.ts -o json | jq '.broker[] | select(.source != "default")'`)
    .action(async (flags: PrintFlags) => { await printConfig(flags) })
  config.command('lint').summary('check a configuration file').argument('[file]', 'default: the one in this folder')
    .description('Checks a configuration file by itself: options, settings, plugins, and that they fit together. Names what is wrong, one mistake a line. Loads the plugins and makes their objects, and starts none. Exit code 2 if something is wrong.')
    .addOption(outputOption())
    .addHelpText('after', `
Example
  millrace config lint millrace.config.yaml`)
    .action(async (file: string | undefined, flags: { output: OutputFormat }) => { await lint(file, flags.output) })
}

async function printConfig(flags: PrintFlags): Promise<void> {
  const [{ describePluginSettings }, { checkDeclarations }] = await Promise.all([
    import('../../kernel/plugin/plugin-settings.ts'), import('../../kernel/plugin/composition-check.ts'),
  ])
  const composed = await composeFromFlags(flags)
  checkDeclarations(composed.plugins)
  const broker = await brokerSettings(composed)
  const plugins = composed.plugins.flatMap((plugin) => describePluginSettings(plugin, composed.pluginSettings[plugin.name], composed.pluginSources[plugin.name] ?? {}))
  if (flags.output === 'json') {
    printJson({ config: composed.configPath ?? null, composition: composed.composition, broker, plugins })
    return
  }
  const shown = broker.filter((each) => flags.all === true || each.effect === 'works' || each.source !== 'default')
  print(`configuration file: ${composed.configPath ?? 'none'}`)
  printComposition(composed.composition)
  printTable(['broker setting', 'value', 'source'], shown.map((each) => [each.name, each.value === '' ? pc.dim('(none)') : each.value, shownSource(each.source)]))
  if (shown.length < broker.length) print(pc.dim(`(and ${plural(broker.length - shown.length, 'setting')} without effect here: --all)`))
  print('')
  const names = [...new Set(plugins.map((each) => each.plugin))]
  printTable(['plugin and setting', 'value', 'source', 'meaning'], names.flatMap((name) => [
    [pc.bold(name), '', '', ''],
    ...plugins.filter((each) => each.plugin === name)
      .map((each) => [`  ${each.key}`, JSON.stringify(each.value) ?? pc.dim('(none)'), shownSource(each.source), pc.dim(each.doc)]),
  ]), { width: process.stdout.columns ?? 0 })
}

function printComposition({ preset, plugins, without }: CompositionDescription): void {
  print(`preset: ${preset.name} (${shownSource(preset.source)})`)
  print('')
  printTable(['plugin', 'source', 'what it does'], [
    ...plugins.map(({ name, summary, source, use, instead }) => [
      use === null || use === name ? name : `${name} (${use})`, shownSource(source), `${summary}${instead === null ? '' : pc.cyan(` In place of ${instead}.`)}`,
    ]),
    ...without.map(({ name, source }) => [pc.dim(name), shownSource(source), pc.cyan('Left out.')]),
  ], { width: process.stdout.columns ?? 0 })
  print('')
}

const shownSource = (source: string): string => source === 'default' || source === 'preset' ? pc.dim(source) : pc.cyan(source)

interface BrokerSetting {
  readonly name: string
  /** `[hidden]` for a secret. */
  readonly value: string
  readonly source: string
  readonly type: string
  readonly effect: 'works' | 'none' | 'refused'
  readonly doc: string
}

/** The same as in docs/config.md, and beside them what somebody has set though it is for tests. */
async function brokerSettings({ settings }: Pick<Awaited<ReturnType<typeof composeFromFlags>>, 'settings'>): Promise<BrokerSetting[]> {
  const [{ brokerConfigs }, { isDescribed }, { documentation, effectOver }] = await Promise.all([
    import('../../kernel/config/broker-config-table.ts'), import('../../kernel/config/config-row.ts'), import('../../kernel/config/describe-configs.ts'),
  ])
  return settings.entries().flatMap(({ name, value, source }) => {
    const row = brokerConfigs.get(name)!
    const effect = effectOver(row, settings.storeLimits)
    return !isDescribed(row, source !== 'default') ? [] : {
      name, value, source, type: row.type,
      effect: effect === 'works' ? 'works' : 'none' in effect ? 'none' : 'refused', doc: documentation(row, settings.storeLimits),
    }
  })
}

async function lint(given: string | undefined, output: OutputFormat): Promise<void> {
  const [{ lintConfigFile }, { configFileIn, configFileNames, inFile }, { NodeFileSystem }] = await Promise.all([
    import('../../broker/config-lint.ts'), import('../../broker/config-file.ts'), import('../../platform/node-file-system.ts'),
  ])
  const files = new NodeFileSystem()
  const file = given ?? configFileIn(files, process.cwd())
  if (file === undefined) throw new UsageError(`there is no ${configFileNames.join(', ')} in this folder; name a file`)
  const { path, faults, warnings, pluginCount } = await lintConfigFile(files, file, process.cwd(), commandDefaults)
  if (faults.length > 0) process.exitCode = 2
  if (output === 'json') {
    printJson({ config: path, ok: faults.length === 0, errors: faults.map((fault) => ({ file: path, ...faultAsJson(fault) })), warnings })
    return
  }
  for (const { error } of faults) process.stderr.write(`${errorLine(error.code, inFile(path, error).message)}\n`)
  for (const warning of warnings) printWarning(`${path}: ${warning}`)
  if (faults.length === 0) print(`${path}: ${pc.green('ok')}, ${plural(pluginCount, 'plugin')}`)
}

function faultAsJson({ key, error }: ConfigFault): object {
  const suggestion = String(error.details['suggestion'] ?? '').replace(/^; /, '')
  return { key, code: error.code, message: error.message, suggestion: suggestion === '' ? null : suggestion }
}
