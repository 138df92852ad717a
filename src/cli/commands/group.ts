import { type Command } from 'commander'
import pc from 'picocolors'
import type { Admin, GroupDescription, TopicPartition } from '../../client/index.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { confirmed } from '../confirm.ts'
import { addNetworkOptions, withClient, type NetworkFlags } from '../network-options.ts'
import { parseTopicPartitions, plannedMoves, resetTarget, type OffsetMove, type ResetFlags } from '../offset-reset.ts'
import { collect, wholeNumber } from '../option-values.ts'
import { plural, print, printJson, printTable, printWarning, UsageError } from '../output.ts'

interface ChangeFlags extends NetworkFlags {
  readonly yes?: boolean
  readonly dryRun?: boolean
}

interface ResetOffsetsFlags extends ChangeFlags, ResetFlags {
  readonly topic?: readonly string[]
}

export function groupCommand(program: Command): void {
  const group = program.command('group').summary('consumer groups: members, lag, offsets')
    .description('Lists and describes groups, sets where they go on, and deletes them.')
  addNetworkOptions(group.command('list').summary('all groups').description('Lists the groups of the cluster, with their state.'))
    .option('--state <state>', 'only those in this state (Stable, Empty, PreparingRebalance, …); may be repeated', collect)
    .action(async (flags: NetworkFlags & { readonly state?: readonly string[] }) => { await withClient(flags, (_client, admin) => list(admin, flags)) })
  addNetworkOptions(group.command('describe').summary('members of a group, and the lag of each partition').argument('<group>')
    .description('Shows a group: its members, what each reads, and for each partition what is committed and how many offsets it is behind.'))
    .action(async (name: string, flags: NetworkFlags) => {
      await withClient(flags, async (_client, admin) => {
        const { describeGroup, printReport, reportJson } = await import('../group-report.ts')
        const report = await describeGroup(admin, name)
        if (flags.output === 'json') printJson(reportJson(report))
        else printReport(report)
      })
    })
  resetCommand(group)
  deleteCommand(group)
}

async function list(admin: Admin, { state, output }: NetworkFlags & { readonly state?: readonly string[] }): Promise<void> {
  const groups = (await admin.listGroups(state === undefined ? {} : { states: state }))
    .map(({ groupId, type, state: each, protocolType }) => ({ groupId, type: type ?? null, state: each ?? null, protocolType }))
  if (output === 'json') printJson({ groups })
  else if (groups.length === 0) print(pc.dim('no groups; one is made when a consumer joins it: millrace consume TOPIC --group NAME'))
  else printTable(['group', 'state', 'type', 'members are'], groups.map((each) => [each.groupId, each.state ?? '-', each.type ?? '-', each.protocolType === '' ? pc.dim('none') : `${each.protocolType}s`]))
}

function resetCommand(group: Command): void {
  addNetworkOptions(group.command('reset-offsets').summary('set where a group goes on').argument('<group>')
    .description('Sets the offsets of a group that has no members. Shows what would change and asks first.'))
    .option('--topic <topic[:partitions]>', 'these alone, such as orders or orders:0,3,5-7; may be repeated (default: all that the group has committed)', collect)
    .option('--to-earliest', 'to the beginning of each partition')
    .option('--to-latest', 'to the end: what is there now is left out')
    .option('--to-offset <n>', 'to this offset', wholeNumber('--to-offset', 0, Number.MAX_SAFE_INTEGER))
    .option('--to-datetime <time>', 'to the first record that is not older: 2026-03-01T08:00Z, 2026-03-01, 1772352000000')
    .option('--by-duration <duration>', 'to the first record that is not older than so long ago: 15m, 2h, 7d, PT1H30M')
    .option('--shift-by <n>', 'so many offsets further, or back where it is negative', wholeNumber('--shift-by', -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'say what would change, change nothing')
    .addHelpText('after', `
A group that has members keeps what they commit: stop its consumers first, and look with group describe until it is Empty. Offsets that a log does not
have become the nearest one that it has. A group that is not there is made, where --topic says of what.

Examples
  millrace group reset-offsets billing --to-earliest --dry-run
  millrace group reset-offsets billing --topic orders:0 --to-offset 4200
  millrace group reset-offsets billing --topic orders --by-duration 2h --yes
  millrace group reset-offsets billing --shift-by -100`)
    .action(async (name: string, flags: ResetOffsetsFlags) => {
      const target = resetTarget(flags, Date.now())
      await withClient(flags, async (_client, admin) => {
        const partitions = await partitionsOf(admin, name, flags)
        await reset(admin, name, await plannedMoves(admin, partitions, target), flags)
      })
    })
}

/** What is to be moved, with where it is. Refuses a group that has members: they would commit over it. */
async function partitionsOf(admin: Admin, group: string, { topic: wanted }: ResetOffsetsFlags): Promise<(TopicPartition & { before: number | undefined })[]> {
  const found = await describedOrNone(admin, group)
  if (found !== undefined && found.members.length > 0) throw new MillraceError('MR_CLIENT_GROUP_NOT_EMPTY', { what: `setting the offsets of group ${group}`, group })
  const committed = await admin.listGroupOffsets(group)
  const before = new Map(committed.map((each) => [`${each.topic}/${each.partition}`, each.offset]))
  if (wanted === undefined) {
    if (found === undefined) throw new MillraceError('MR_CLIENT_GROUP_UNKNOWN', { group })
    if (committed.length === 0) throw new UsageError(`group ${group} has committed nothing; name topics with --topic`)
    return committed.map(({ topic, partition, offset }) => ({ topic, partition, before: offset }))
  }
  const asked = wanted.map(parseTopicPartitions)
  const topics = await admin.describeTopics([...new Set(asked.map(({ topic }) => topic))])
  const counts = new Map(topics.map(({ name, partitions }) => [name, partitions.length]))
  const all = new Map(asked.flatMap(({ topic, partitions }) => (partitions ?? Array.from({ length: counts.get(topic)! }, (_, index) => index)).map((partition) => {
    if (partition >= counts.get(topic)!) throw new MillraceError('MR_CLIENT_PARTITION_UNKNOWN', { topic, partition, count: counts.get(topic)! })
    return [`${topic}/${partition}`, { topic, partition, before: before.get(`${topic}/${partition}`) }] as const
  })))
  return [...all.values()]
}

async function describedOrNone(admin: Admin, group: string): Promise<GroupDescription | undefined> {
  try {
    return (await admin.describeGroups([group]))[0]
  } catch (error) {
    if (isMillraceError(error, 'MR_CLIENT_GROUP_UNKNOWN')) return undefined
    throw error
  }
}

async function reset(admin: Admin, group: string, moves: readonly OffsetMove[], flags: ResetOffsetsFlags): Promise<void> {
  const changed = moves.filter(({ before, after }) => before !== after)
  const isDry = flags.dryRun === true
  if (flags.output === 'text') {
    printTable(['topic', 'partition', 'committed', 'new', 'lag then'], moves.map(({ topic, partition, before, after, endOffset }) => [topic, partition, before ?? '-', after, endOffset - after]), { right: [1, 2, 3, 4] })
    for (const { topic, partition, wanted, after } of moves) if (wanted !== undefined) printWarning(`${topic}-${partition} has no offset ${wanted}; ${after} is the nearest`)
  }
  const say = (isReset: boolean, text: string): void => {
    if (flags.output === 'json') {
      printJson({ groupId: group, reset: isReset, dryRun: isDry, offsets: moves.map(({ topic, partition, before, after, endOffset }) => ({ topic, partition, before: before ?? null, after, endOffset, lag: endOffset - after })) })
    } else print(text)
  }
  if (isDry) return say(false, `would set ${plural(changed.length, 'offset')} of group ${pc.bold(group)}`)
  if (changed.length === 0) return say(false, `group ${pc.bold(group)} is there already`)
  if (!await confirmed({ what: `this replaces ${plural(changed.length, 'committed offset')} of group ${group}`, ...flags.yes === undefined ? {} : { yes: flags.yes } })) {
    say(false, 'nothing changed')
    process.exitCode = 1
    return
  }
  await admin.alterGroupOffsets(group, changed.map(({ topic, partition, after }) => ({ topic, partition, offset: after })))
  say(true, `set ${plural(changed.length, 'offset')} of group ${pc.bold(group)}`)
}

function deleteCommand(group: Command): void {
  addNetworkOptions(group.command('delete').summary('delete a group and its offsets').argument('<group>')
    .description('Deletes a group that has no members, with all that it has committed. Asks first on a terminal.'))
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'say what would be deleted, delete nothing')
    .addHelpText('after', `
Examples
  millrace group delete billing --dry-run
  millrace group delete billing --yes`)
    .action(async (name: string, flags: ChangeFlags) => { await withClient(flags, (_client, admin) => remove(admin, name, flags)) })
}

async function remove(admin: Admin, groupId: string, flags: ChangeFlags): Promise<void> {
  const [group] = await admin.describeGroups([groupId])
  if (group!.members.length > 0) throw new MillraceError('MR_CLIENT_GROUP_NOT_EMPTY', { what: `deleting group ${groupId}`, group: groupId })
  const offsets = (await admin.listGroupOffsets(groupId)).length
  const what = plural(offsets, 'committed offset')
  const say = (deleted: boolean, text: string): void => {
    if (flags.output === 'json') printJson({ groupId, deleted, dryRun: flags.dryRun === true, offsets })
    else print(text)
  }
  if (flags.dryRun === true) return say(false, `would delete group ${pc.bold(groupId)}: ${what}`)
  if (!await confirmed({ what: `deleting group ${groupId} destroys its ${what}`, ...flags.yes === undefined ? {} : { yes: flags.yes } })) {
    say(false, 'nothing deleted')
    process.exitCode = 1
    return
  }
  await admin.deleteGroups([groupId])
  say(true, `deleted group ${pc.bold(groupId)}: ${what}`)
}
