import pc from 'picocolors'
import type { Admin, CommittedOffset, GroupDescription } from '../client/index.ts'
import { plural, print, printTable, printWarning, type Cell } from './output.ts'

export interface GroupPartition {
  readonly topic: string
  readonly partition: number
  /** Null: nothing is committed. */
  readonly committed: number | null
  /** Null: the topic or the partition is not there any more. */
  readonly startOffset: number | null
  readonly endOffset: number | null
  readonly lag: number | null
  /** What is committed lies above the end: the log had more records when that was read. */
  readonly isBeyondEnd: boolean
  /** Null: nobody reads it at the moment. */
  readonly memberId: string | null
  readonly metadata: string
}

export interface GroupReport {
  readonly group: GroupDescription
  readonly partitions: readonly GroupPartition[]
  readonly lag: number | null
}

/** A group, and for each partition that it has committed or that a member reads, how far behind it is. */
export async function describeGroup(admin: Admin, groupId: string): Promise<GroupReport> {
  const [[group], committed, listed] = await Promise.all([admin.describeGroups([groupId]), admin.listGroupOffsets(groupId), admin.listTopics({ includeInternal: true })])
  const readers = new Map<string, string>(group!.members.flatMap(({ memberId, assignment }) => assignment.map((each) => [`${each.topic}/${each.partition}`, memberId] as const)))
  const offsets = new Map<string, CommittedOffset>(committed.map((each) => [`${each.topic}/${each.partition}`, each]))
  const counts = new Map(listed.map(({ name, partitions }) => [name, partitions]))
  const all = [...committed, ...group!.members.flatMap(({ assignment }) => assignment).filter(({ topic, partition }) => !offsets.has(`${topic}/${partition}`))]
    .map(({ topic, partition }) => ({ topic, partition })).sort((a, b) => a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1)
  const present = all.filter(({ topic, partition }) => partition < (counts.get(topic) ?? 0))
  const [starts, ends] = await Promise.all((['beginning', 'end'] as const).map(async (at) =>
    new Map<string, number>((await admin.listOffsets(present.map((each) => ({ ...each, at })))).map((each) => [`${each.topic}/${each.partition}`, each.offset]))))
  const partitions = all.map(({ topic, partition }): GroupPartition => {
    const key = `${topic}/${partition}`
    const offset = offsets.get(key)
    const [startOffset, endOffset] = [starts!.get(key) ?? null, ends!.get(key) ?? null]
    const from = offset === undefined ? null : Math.max(offset.offset, startOffset ?? 0)
    return {
      topic, partition, committed: offset?.offset ?? null, startOffset, endOffset, lag: endOffset === null || from === null ? null : Math.max(0, endOffset - from),
      isBeyondEnd: offset !== undefined && endOffset !== null && offset.offset > endOffset,
      memberId: readers.get(key) ?? null, metadata: offset?.metadata ?? '',
    }
  })
  const known = partitions.flatMap(({ lag }) => lag ?? [])
  return { group: group!, partitions, lag: known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) }
}

export function reportJson({ group, partitions, lag }: GroupReport): object {
  const { groupId, type, state, protocolType, assignor, coordinatorId, members } = group
  return {
    groupId, type, state, protocolType, assignor, coordinator: coordinatorId, lag,
    members: members.map(({ memberId, groupInstanceId, clientId, host, topics, assignment }) => ({
      memberId, instanceId: groupInstanceId ?? null, clientId, host, topics: topics ?? null, assignment,
    })),
    partitions,
  }
}

export function printReport({ group, partitions, lag }: GroupReport): void {
  const { groupId, type, state, assignor, coordinatorId, members, protocolType } = group
  const how = assignor === '' ? '' : `, shared out by ${assignor}`
  print(`group ${pc.bold(groupId)}: ${state}, ${plural(members.length, 'member')}, ${type} protocol${how}, coordinator ${coordinatorId}${lag === null ? '' : `, lag ${lag.toLocaleString('en')}`}`)
  if (members.length > 0) {
    print('')
    printTable(['member', 'client', 'host', 'instance', 'partitions'], members.map((each): Cell[] => [each.memberId, each.clientId, each.host, each.groupInstanceId ?? '-', each.assignment.length]), { right: [4] })
  }
  if (partitions.length > 0) {
    print('')
    const shown = (value: number | null): Cell => value ?? '-'
    const clients = new Map(members.map(({ memberId, clientId, host }) => [memberId, `${clientId} ${host}`]))
    printTable(['topic', 'partition', 'committed', 'end', 'lag', 'read by'], partitions.map((each): Cell[] => [
      each.topic, each.partition, shown(each.committed), shown(each.endOffset), each.isBeyondEnd ? pc.red('beyond the end') : shown(each.lag), clients.get(each.memberId ?? '') ?? '-',
    ]), { right: [1, 2, 3, 4] })
  }
  if (protocolType !== 'consumer' && protocolType !== '') printWarning(`its members are no consumers but call themselves ${protocolType}: what they have cannot be shown`)
  for (const { topic, partition } of partitions.filter(({ endOffset }) => endOffset === null)) printWarning(`${topic}-${partition} is not there any more; its offset is`)
  for (const { topic, partition, committed, endOffset } of partitions.filter(({ isBeyondEnd }) => isBeyondEnd)) {
    printWarning(`${topic}-${partition}: ${committed} is committed and the log ends at ${endOffset}: records that the group has read are missing, or the topic was made anew; set the group back with \`millrace group reset-offsets\``)
  }
  for (const each of partitions) {
    if (each.committed !== null && each.startOffset !== null && each.committed < each.startOffset) {
      printWarning(`${each.topic}-${each.partition}: records from ${each.committed} to ${each.startOffset - 1} are deleted, and the group has not committed them`)
    }
  }
}
