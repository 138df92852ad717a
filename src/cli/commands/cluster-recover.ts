import { type Command } from 'commander'
import pc from 'picocolors'
import type { RecoveryReport } from '../../broker/recovery/recover-metadata.ts'
import { confirmed } from '../confirm.ts'
import { outputOption } from '../network-options.ts'
import { collect, wholeNumber } from '../option-values.ts'
import { plural, print, printJson, printTable, printWarning, UsageError, type OutputFormat } from '../output.ts'
import { composeFromFlags } from './start.ts'
import { isInternalTopic } from '../../kernel/model/topic-name.ts'

interface Flags {
  readonly config?: string
  readonly data?: readonly string[]
  readonly nodeId?: number
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly output: OutputFormat
}

export function clusterRecoverCommand(cluster: Command): void {
  cluster.command('recover').summary('make lost or damaged metadata again, while no broker runs')
    .description('Makes the metadata of a broker again that a start refuses: from what of it is intact, and from the directories of the partitions. The broker must not run.')
    .option('--config <file>', 'configuration of the broker (default: the one in this folder, if there is one)')
    .option('--data <dir>', 'data directory; all of them, as for start: --data a,b, or repeated (default: data)', collect)
    .option('--node-id <n>', 'id of the broker, where nothing that is left says it (default: 1)', wholeNumber('--node-id'))
    .option('--dry-run', 'say what would come of it, and change nothing')
    .option('--yes', 'do not ask')
    .addOption(outputOption())
    .addHelpText('after', `
What is taken: the newest snapshot of the metadata that is intact, the commands that follow it without a gap, and, when these are not all, the topics whose partition
directories are there (partition.metadata). What was made from directories keeps all its records, and has the default settings in all else. No partition directory is changed or removed, and the old
metadata is kept beside the new. Restore a backup of the whole directory instead if there is one of the same hour.

Examples
  millrace cluster recover --dry-run
  millrace cluster recover --data /var/lib/millrace --yes -o json
  millrace cluster recover --data /disk1/millrace,/disk2/millrace`)
    .action(async (flags: Flags) => { await recover(flags) })
}

async function recover(flags: Flags): Promise<void> {
  const { config, data, nodeId } = flags
  const composed = await composeFromFlags({ ...config === undefined ? {} : { config }, ...data === undefined ? {} : { data }, ...nodeId === undefined ? {} : { nodeId }, http: 'off' })
  if (!composed.plugins.some(({ name }) => name === 'coordination-single')) throw new UsageError('the configuration has no coordination-single, whose metadata this recovers')
  const [{ withRecovery }, { metadataDirectoryName }, { LevelKeyValueEngine, repairLevel }, { NodeFileSystem }, { SystemRandom }] = await Promise.all([
    import('../../broker/recovery/recover-metadata.ts'), import('../../plugins/coordination-single/index.ts'), import('../../platform/level-key-value-engine.ts'),
    import('../../platform/node-file-system.ts'), import('../../platform/system-random.ts'),
  ])
  const { settings } = composed
  const dataDirectories = settings.list('log.dirs').length > 0 ? settings.list('log.dirs') : settings.list('log.dir')
  const given = composed.pluginSettings['coordination-single']?.['path']
  const path = typeof given === 'string' ? given : `${dataDirectories[0]}/${metadataDirectoryName}`
  const world = { engine: new LevelKeyValueEngine(), files: new NodeFileSystem(), random: new SystemRandom(), repair: repairLevel }
  const lostDirectories = (composed.pluginSettings['storage-local']?.['lostDirectories'] ?? []) as readonly string[]
  await withRecovery(world, { dataDirectories, lostDirectories, path, nodeId: settings.nodeId }, async (recovery) => {
    const { report, isResumed } = recovery
    const isText = flags.output === 'text'
    if (isText) explain(report, isResumed)
    let done = false
    if (flags.dryRun !== true && await confirmed({ what: `this takes the place of the metadata in ${path}`, yes: flags.yes ?? false })) {
      await recovery.carryOut()
      done = true
    }
    if (!isText) printJson({ ...report, resumed: isResumed, done })
    else if (done) print(`\n${pc.green('done')}: start the broker${report.kept === null ? '' : `; the old metadata is in ${report.kept}`}`)
    else print('\nnothing was changed')
    if (!done && flags.dryRun !== true) process.exitCode = 1
  })
}

function explain(report: RecoveryReport, isResumed: boolean): void {
  const { path, clusterId, nodeId, topics, replaced, left, assumed } = report
  if (isResumed) printWarning('an earlier recovery had its last step before it: this is what it found')
  print(`metadata in ${pc.bold(path)}, cluster ${clusterId}, node ${nodeId}`)
  print(readText(report))
  print('')
  printTable(['topic', 'partitions', 'from', ''], topics.map((topic) => [topic.name, topic.partitions, topic.from === 'metadata' ? 'metadata' : pc.yellow('directories'), notesOf(topic)]), { right: [1] })
  for (const { name, topicId } of replaced) printWarning(`topic ${name} with id ${topicId} is dropped: another of its name has directories, and it has none`)
  for (const { path: directory, reason } of left) printWarning(`${directory} is taken by no topic and left as it is: ${reason}`)
  for (const each of assumed) printWarning(each)
}

function readText({ isWhole, snapshotIndex, lastIndex, lostCommands }: RecoveryReport): string {
  if (isWhole) return `all ${plural(lastIndex, 'command')} that were acknowledged can be read: nothing is lost`
  const read = lastIndex === 0 ? 'nothing of its log can be read' : `its log can be read up to command ${lastIndex}${snapshotIndex > 0 ? `, from a snapshot at ${snapshotIndex} on` : ''}`
  if (lostCommands === null) return `${read}; how many commands are lost is not known`
  if (lostCommands === 0) return `${read}; no command is known to be lost`
  return `${read}; ${pc.red(`${plural(lostCommands, 'command')}${lastIndex === 0 ? '' : ' after that'} ${lostCommands === 1 ? 'is' : 'are'} lost`)}`
}

/** What is to be said of a topic beside its name. */
export function notesOf({ name, from, absent, isEmpty, partitions }: RecoveryReport['topics'][number]): string {
  const notes: string[] = []
  if (from === 'directories') notes.push(isInternalTopic(name) ? 'internal: it has its own settings again' : 'settings lost: it keeps everything')
  if (absent.length === partitions) notes.push('no directory')
  else if (absent.length > 0) notes.push(`no directory for partition ${absent.slice(0, 10).join(', ')}${absent.length > 10 ? ', …' : ''}`)
  else if (isEmpty) notes.push('no records')
  return notes.join('; ')
}
