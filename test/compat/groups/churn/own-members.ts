/**
 * Members of one group through our own client, as many as are told to join, in one process: `own-members.ts BOOTSTRAP TOPIC GROUP eager|cooperative|consumer`, then `join NAME` and
 * `leave NAME` on stdin. Prints the lines of members, each with its name.
 */
import { createInterface } from 'node:readline'

import { createClient, type GroupConsumer, type GroupOptions } from '../../../../src/client/index.ts'

const [bootstrap, topic, groupId, protocol] = process.argv.slice(2) as [string, string, string, string]
const options: GroupOptions = protocol === 'consumer' ? { groupId, groupProtocol: 'consumer' } : {
  groupId, groupProtocol: 'classic', assignors: [protocol === 'eager' ? 'sticky' : 'cooperative-sticky'], sessionTimeoutMs: 10_000, heartbeatIntervalMs: 500,
}

function say (member: string, name: string, more: object): void {
  process.stdout.write(`${JSON.stringify({ timestamp: Date.now(), member, name, ...more })}\n`)
}

interface Running { readonly stopped: AbortController, readonly done: Promise<void> }
const members = new Map<string, Running>()

async function run (name: string, consumer: GroupConsumer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const ends = new Map<number, number>()
    for (const { partition, offset } of await consumer.poll({ signal, maxRecords: 500 })) {
      say(name, 'records_consumed', { partitions: [{ partition, minOffset: offset, maxOffset: offset }] })
      ends.set(partition, offset + 1)
    }
    const offsets = [...ends].map(([partition, offset]) => ({ partition, offset }))
    if (offsets.length === 0) continue
    const failure = await consumer.commit(offsets.map(each => ({ topic, ...each }))).then(() => undefined, (error: Error) => error.message)
    say(name, 'offsets_committed', { success: failure === undefined, offsets, error: failure })
  }
}

function join (name: string): void {
  const client = createClient({ bootstrap })
  const consumer = client.consumer({ ...options, autoCommit: false, offsetReset: 'earliest' })
  const tell = (what: string) => (partitions: readonly { partition: number }[]): void => { say(name, what, { partitions: partitions.map(({ partition }) => ({ partition })) }) }
  consumer.subscribe([topic], { onAssigned: tell('partitions_assigned'), onRevoked: tell('partitions_revoked'), onLost: tell('partitions_lost') })
  const stopped = new AbortController()
  const done = run(name, consumer, stopped.signal).catch((error: unknown) => { if (!stopped.signal.aborted) throw error }).finally(() => client.close())
  members.set(name, { stopped, done })
}

async function leave (name: string): Promise<void> {
  const { stopped, done } = members.get(name)!
  members.delete(name)
  stopped.abort()
  await done
  say(name, 'shutdown_complete', {})
}

const leaving: Promise<void>[] = []
for await (const line of createInterface(process.stdin)) {
  const [what, name] = line.split(' ') as [string, string]
  if (name === undefined) break
  if (what === 'join') join(name)
  else leaving.push(leave(name))
}
await Promise.all([...leaving, ...[...members.keys()].map(leave)])
process.exit(0)
