import { type Command } from 'commander'
import pc from 'picocolors'
import { suggestion } from '../../base/suggestion.ts'
import type { Admin, ConfigChange } from '../../client/index.ts'
import { addNetworkOptions, withClient, type NetworkFlags } from '../network-options.ts'
import { plural, print, printJson, printTable, printWarning, UsageError } from '../output.ts'
import { collect, collectSettings, wholeNumber, type Pair } from '../option-values.ts'
import { type ConfigReport } from '../topic-report.ts'

interface AlterFlags extends NetworkFlags {
  readonly config?: readonly Pair[]
  readonly deleteConfig?: readonly string[]
  readonly partitions?: number
  readonly dryRun?: boolean
}

/** A setting that is to be changed, with what is set for the topic. Null: nothing, so that a default counts. */
interface AlteredConfig {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
}

export function alterCommand(topic: Command): void {
  addNetworkOptions(topic.command('alter').summary('change settings and the number of partitions').argument('<name>')
    .description('Changes a topic while it is written and read: settings, of which all are changed or none, and then the number of partitions. What is not named stays as it is.'))
    .option('--config <key=value>', 'a setting of the topic by its Kafka name; may be repeated', collectSettings('--config'))
    .option('--delete-config <key>', 'a setting that goes back to its default; may be repeated', collect)
    .option('--partitions <n>', 'how many partitions it has then, in all; never fewer than now', wholeNumber('--partitions', 1))
    .option('--dry-run', 'check everything, change nothing')
    .addHelpText('after', `
Examples
  millrace topic alter orders --config retention.ms=86400000 --dry-run
  millrace topic alter orders --config retention.ms=86400000 --delete-config max.message.bytes
  millrace topic alter orders --partitions 24`)
    .action(async (name: string, flags: AlterFlags) => {
      const changes = changesOf(flags)
      await withClient(flags, (_client, admin) => alter(admin, name, changes, flags))
    })
}

function changesOf({ config = [], deleteConfig = [], partitions }: AlterFlags): readonly ConfigChange[] {
  const twice = deleteConfig.find((name, index) => deleteConfig.indexOf(name) !== index || config.some(([key]) => key === name))
  if (twice !== undefined) throw new UsageError(`${twice} is given twice; set it with --config, or delete it with --delete-config, once`)
  if (config.length + deleteConfig.length === 0 && partitions === undefined) throw new UsageError('nothing to change; say what with --config, --delete-config or --partitions')
  return [
    ...config.map(([name, value]): ConfigChange => ({ name, operation: 'set', value })),
    ...deleteConfig.map((name): ConfigChange => ({ name, operation: 'delete' })),
  ]
}

/** Both parts are checked before either is made: what is refused of one leaves the other as it was. */
async function alter(admin: Admin, name: string, changes: readonly ConfigChange[], flags: AlterFlags): Promise<void> {
  const { createWarnings, describeConfigs, existingTopic } = await import('../topic-report.ts')
  const topic = await existingTopic(admin, name)
  const before = await describeConfigs(admin, name)
  const { partitions } = flags
  const make = async (validateOnly: boolean): Promise<void> => {
    if (changes.length > 0) await admin.incrementalAlterConfigs([{ type: 'topic', name, changes }], { validateOnly })
    if (partitions !== undefined) await admin.createPartitions([{ name, partitions }], { validateOnly })
  }
  const dryRun = flags.dryRun === true
  await make(true)
  if (!dryRun) await make(false)
  const after = dryRun || changes.length === 0 ? before : await describeConfigs(admin, name)
  const factor = topic.partitions[0]?.replicas.length ?? 0
  const warnings = [
    ...unsetWarnings(flags.deleteConfig ?? [], before, after),
    ...lossWarnings(before, dryRun ? planned(before, flags.config ?? []) : after),
    ...changes.length === 0 ? [] : await createWarnings(admin, name, Object.fromEntries(flags.config ?? []), factor, !dryRun),
    ...partitions === undefined ? [] : ['records of a key may go to another partition than before: who needs their order has to read the old ones first'],
  ]
  const configs = changes.map((change) => altered(change, before, after, dryRun))
  const counts = partitions === undefined ? null : { before: topic.partitions.length, after: partitions }
  if (flags.output === 'json') printJson({ name, partitions: counts, configs, dryRun, warnings })
  else printAltered(name, { configs, counts, before, after, dryRun })
  if (flags.output === 'text') for (const warning of warnings) printWarning(warning)
}

const ownValue = (configs: readonly ConfigReport[], name: string): string | null => configs.find((each) => each.name === name && each.source === 'topic')?.value ?? null

function altered({ name, operation, value }: ConfigChange, before: readonly ConfigReport[], after: readonly ConfigReport[], dryRun: boolean): AlteredConfig {
  const planned = operation === 'delete' ? null : value ?? null
  return { name, before: ownValue(before, name), after: dryRun ? planned : ownValue(after, name) }
}

/** Deleting what is not set is no error to a broker: a name that is mistyped would pass without a word. */
function unsetWarnings(names: readonly string[], before: readonly ConfigReport[], after: readonly ConfigReport[]): string[] {
  return names.filter((name) => ownValue(before, name) === null).map((name) => {
    const isKnown = after.some((each) => each.name === name)
    return isKnown ? `${name} was not set for the topic` : `${name} is no setting of topics${suggestion(name, after.map((each) => each.name))}`
  })
}

/** What counts then, as far as it can be told: of a default that comes back only the broker knows. */
const planned = (configs: readonly ConfigReport[], given: readonly Pair[]): ConfigReport[] =>
  configs.map((each) => ({ ...each, value: given.find(([name]) => name === each.name)?.[1] ?? each.value }))

/** Nobody is asked, since a change can be meant to make room; what goes for good is said. */
function lossWarnings(before: readonly ConfigReport[], after: readonly ConfigReport[]): string[] {
  const values = (name: string): [string, string] => [before, after].map((configs) => configs.find((each) => each.name === name)?.value ?? '') as [string, string]
  const bound = (text: string): number => (Number(text) < 0 ? Infinity : Number(text))
  const less = (['retention.ms', 'retention.bytes'] as const).flatMap((name) => {
    const [was, is] = values(name)
    return bound(is) < bound(was) ? `${name} was ${was} and is ${is}: what is beyond it is dropped soon` : []
  })
  const [were, are] = values('cleanup.policy').map((list) => list.split(',').map((item) => item.trim()))
  const begins = (policy: string): boolean => are!.includes(policy) && !were!.includes(policy)
  return [
    ...less,
    ...begins('delete') ? ['cleanup.policy has delete now: what is beyond retention.ms and retention.bytes is dropped soon'] : [],
    ...begins('compact') ? ['cleanup.policy has compact now: of each key only the last record will be kept'] : [],
  ]
}

interface Altered {
  readonly configs: readonly AlteredConfig[]
  readonly counts: { readonly before: number, readonly after: number } | null
  readonly before: readonly ConfigReport[]
  readonly after: readonly ConfigReport[]
  readonly dryRun: boolean
}

function printAltered(name: string, { configs, counts, before, after, dryRun }: Altered): void {
  print(`${pc.bold(name)} ${dryRun ? 'can be changed' : 'changed'}${counts === null ? '' : `: ${plural(counts.before, 'partition')}, then ${counts.after}`}`)
  if (configs.length === 0) return
  print('')
  printTable(['setting', 'before', 'after'], configs.map((each) => [
    each.name, shown(each.name, each.before, before), each.after === null && dryRun ? pc.dim('(its default)') : shown(each.name, each.after, after),
  ]))
}

/** What is set, or else what counts instead of it. */
function shown(name: string, own: string | null, configs: readonly ConfigReport[]): string {
  if (own !== null) return own === '' ? pc.dim('(nothing)') : own
  const found = configs.find((each) => each.name === name)
  return found?.value === undefined || found.value === null ? pc.dim('(not set)') : `${found.value} ${pc.dim(found.source === 'default' ? '(default)' : `(${found.source})`)}`
}
