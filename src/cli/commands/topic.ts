import { type Command } from 'commander'
import pc from 'picocolors'
import { formatBytes } from '../../base/format-quantity.ts'
import type { Admin } from '../../client/index.ts'
import { isMillraceError } from '../../kernel/errors/index.ts'
import { confirmed } from '../confirm.ts'
import { addNetworkOptions, withClient, type NetworkFlags } from '../network-options.ts'
import { plural, print, printJson, printTable, printWarning } from '../output.ts'
import { collectSettings, wholeNumber, type Pair } from '../option-values.ts'
import { alterCommand } from './topic-alter.ts'

interface CreateFlags extends NetworkFlags {
  readonly partitions?: number
  readonly replicationFactor?: number
  readonly config?: readonly Pair[]
  readonly ifNotExists?: boolean
  readonly dryRun?: boolean
}

interface DeleteFlags extends NetworkFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export function topicCommand(program: Command): void {
  const topic = program.command('topic').summary('make, list, describe, change and delete topics').description('Makes, lists, describes, changes and deletes topics.')
  createCommand(topic)
  addNetworkOptions(topic.command('list').summary('all topics').description('Lists the topics of the cluster.'))
    .option('--internal', 'topics of the cluster itself, too')
    .action(async (flags: NetworkFlags & { internal?: boolean }) => { await withClient(flags, (_client, admin) => list(admin, flags)) })
  addNetworkOptions(topic.command('describe').summary('partitions and settings of a topic').argument('<name>')
    .description('Shows a topic: its partitions with leader, replicas, offsets and size, the settings that somebody set, and what has no effect here. Exit code 1 if a partition is not served, has not all of its replicas, or records that are damaged on a disk, or missing since a start.'))
    .option('--all', 'settings at their default, too')
    .action(async (name: string, flags: NetworkFlags & { all?: boolean }) => {
      await withClient(flags, async (_client, admin) => {
        const { describeTopic, isWell, printTopic } = await import('../topic-report.ts')
        const report = await describeTopic(admin, name)
        if (flags.output === 'json') printJson({ ...report, configs: report.configs.filter((each) => flags.all === true || each.source !== 'default') })
        else printTopic(report, flags.all === true)
        if (!isWell(report)) process.exitCode = 1
      })
    })
  alterCommand(topic)
  deleteCommand(topic)
}

function createCommand(topic: Command): void {
  addNetworkOptions(topic.command('create').summary('make a topic').argument('<name>').description('Makes a topic. What of its settings has no effect here is said in warnings.'))
    .option('--partitions <n>', 'how many partitions (default: num.partitions of the broker)', wholeNumber('--partitions', 1))
    .option('--replication-factor <n>', 'how many copies of each (default: default.replication.factor of the broker)', wholeNumber('--replication-factor', 1))
    .option('--config <key=value>', 'a setting of the topic by its Kafka name; may be repeated', collectSettings('--config'))
    .option('--if-not-exists', 'a topic of that name that is there already is no error')
    .option('--dry-run', 'check everything, make nothing')
    .addHelpText('after', `
Examples
  millrace topic create orders --partitions 12
  millrace topic create audit --config retention.ms=-1 --config max.message.bytes=4194304
  millrace topic create state --config cleanup.policy=compact --dry-run`)
    .action(async (name: string, flags: CreateFlags) => { await withClient(flags, (_client, admin) => create(admin, name, flags)) })
}

async function create(admin: Admin, name: string, flags: CreateFlags): Promise<void> {
  const configs = Object.fromEntries(flags.config ?? [])
  const dryRun = flags.dryRun === true
  const topic = { name, configs, partitions: flags.partitions, replicationFactor: flags.replicationFactor }
  const defined = Object.fromEntries(Object.entries(topic).filter(([, value]) => value !== undefined)) as typeof topic & { partitions: number, replicationFactor: number }
  try {
    const [created] = await admin.createTopics([defined], { validateOnly: dryRun })
    const warnings = await warningsFor(admin, name, configs, created!.replicationFactor, !dryRun)
    if (flags.output === 'json') printJson({ ...created, name, created: !dryRun, dryRun, warnings })
    else print(`${pc.bold(name)} ${dryRun ? 'can be created' : 'created'}: ${plural(created!.partitions, 'partition')}, replication factor ${created!.replicationFactor}`)
    if (flags.output === 'text') for (const warning of warnings) printWarning(warning)
  } catch (error) {
    if (flags.ifNotExists !== true || !isMillraceError(error, 'MR_TOPIC_EXISTS')) throw error
    const warnings = await differences(admin, name, flags)
    if (flags.output === 'json') printJson({ name, created: false, dryRun, warnings })
    else print(`${pc.bold(name)} exists already`)
    if (flags.output === 'text') for (const warning of warnings) printWarning(warning)
  }
}

/** Where a topic that is there already is not what was asked for. It stays as it is. */
async function differences(admin: Admin, name: string, { partitions, replicationFactor, config = [] }: CreateFlags): Promise<readonly string[]> {
  const { describeConfigs, existingTopic } = await import('../topic-report.ts')
  const topic = await existingTopic(admin, name)
  const factor = topic.partitions[0]?.replicas.length ?? 0
  const found = config.length === 0 ? [] : await describeConfigs(admin, name)
  const valueOf = (key: string): string | null => found.find((each) => each.name === key)?.value ?? null
  return [
    ...partitions === undefined || partitions === topic.partitions.length ? [] : [`${name} has ${plural(topic.partitions.length, 'partition')}, not the ${partitions} that were asked for`],
    ...replicationFactor === undefined || replicationFactor === factor ? [] : [`${name} has a replication factor of ${factor}, not the ${replicationFactor} that was asked for`],
    ...config.filter(([key, value]) => valueOf(key) !== value).map(([key, value]) => `${name} has ${key}=${valueOf(key) ?? '(none)'}, not the ${value} that was asked for`),
  ]
}

/**
 * The settings that a broker has for all topics matter too, so it is asked where nothing was set as well; that it may not be is then no failure of what
 * was asked for.
 */
async function warningsFor(admin: Admin, name: string, configs: Readonly<Record<string, string>>, replicationFactor: number, isMade: boolean): Promise<readonly string[]> {
  const { createWarnings } = await import('../topic-report.ts')
  try {
    return await createWarnings(admin, name, configs, replicationFactor, isMade)
  } catch (error) {
    if (!isMillraceError(error) || Object.keys(configs).length > 0) throw error
    return []
  }
}

async function list(admin: Admin, flags: NetworkFlags & { readonly internal?: boolean }): Promise<void> {
  const topics = await admin.listTopics({ includeInternal: flags.internal === true })
  if (flags.output === 'json') printJson({ topics })
  else if (topics.length === 0) print(pc.dim('no topics; make one with: millrace topic create NAME'))
  else printTable(['topic', 'partitions', 'id'], topics.map((each) => [each.isInternal ? pc.dim(`${each.name} (internal)`) : each.name, each.partitions, pc.dim(each.topicId ?? '-')]), { right: [1] })
}

function deleteCommand(topic: Command): void {
  addNetworkOptions(topic.command('delete').summary('delete a topic and its records').argument('<name>')
    .description('Deletes a topic and everything in it. Asks first on a terminal.'))
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'say what would be deleted, delete nothing')
    .addHelpText('after', `
Examples
  millrace topic delete orders --dry-run
  millrace topic delete orders --yes`)
    .action(async (name: string, flags: DeleteFlags) => { await withClient(flags, (_client, admin) => remove(admin, name, flags)) })
}

async function remove(admin: Admin, name: string, flags: DeleteFlags): Promise<void> {
  const { describeTopic } = await import('../topic-report.ts')
  const report = await describeTopic(admin, name)
  const records = report.partitions.reduce((sum, each) => sum + (each.records ?? 0), 0)
  const size = report.sizeBytes === null ? '' : `, ${formatBytes(report.sizeBytes)}`
  const what = `${plural(report.partitions.length, 'partition')} with up to ${plural(records, 'record')}${size}`
  const say = (deleted: boolean, text: string): void => {
    if (flags.output === 'json') printJson({ name, deleted, dryRun: flags.dryRun === true, partitions: report.partitions.length, records, sizeBytes: report.sizeBytes })
    else print(text)
  }
  if (flags.dryRun === true) {
    say(false, `would delete ${pc.bold(name)}: ${what}`)
    return
  }
  if (!await confirmed({ what: `deleting topic ${name} destroys ${what}`, ...flags.yes === undefined ? {} : { yes: flags.yes } })) {
    say(false, 'nothing deleted')
    process.exitCode = 1
    return
  }
  await admin.deleteTopics([name])
  say(true, `deleted ${pc.bold(name)}: ${what}`)
}
