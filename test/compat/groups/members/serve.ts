import { createInterface } from 'node:readline'

/** What a member of a group does when it is told to. */
export interface ServedMember {
  seek (partition: number, offset: number): Promise<void> | void
  commit (): Promise<void>
  leave (): Promise<void>
}

export interface ConsumeOptions {
  readonly bootstrap: string
  readonly topic: string
  readonly group: string
  readonly protocol: 'classic' | 'consumer'
  /** Milliseconds to start from, where the group has committed nothing; else the beginning. */
  readonly fromMs: number | undefined
  /** It commits when it is told to, rather than after each batch. */
  readonly commitsByHand: boolean
  /** The classic protocol's only assignor; else the client's own choice. */
  readonly assignor: string | undefined
}

export interface Sent {
  readonly partition: number
  readonly offset: number
}

/** A client in its three parts; `serve` runs the one that is asked for. */
export interface ServedClient {
  createTopic (bootstrap: string, topic: string, partitions: number): Promise<void>
  /** Connects, and answers what writes one record to each partition; that rejects where the broker is not there. */
  producer (bootstrap: string, topic: string, partitions: number): Promise<{ send: (value: string) => Promise<readonly Sent[]>, close: () => Promise<void> }>
  consume (options: ConsumeOptions): Promise<ServedMember>
}

/** One line for the driver, in the form of Kafka's VerifiableConsumer. */
export function say (name: string, more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ timestamp: Date.now(), name, ...more })}\n`)
}

export function sayPartitions (name: string, partitions: Iterable<number>): void {
  say(name, { partitions: [...partitions].map(partition => ({ partition })) })
}

export function sayRecord (partition: number, offset: number): void {
  say('records_consumed', { count: 1, partitions: [{ partition, minOffset: offset, maxOffset: offset }] })
}

/** Commits, and says how it went. Answers what was thrown. */
export async function sayCommitted (offsets: readonly Sent[], commit: () => Promise<unknown>): Promise<unknown> {
  try {
    await commit()
    say('offsets_committed', { success: true, offsets })
    return undefined
  } catch (error) {
    say('offsets_committed', { success: false, offsets, error: String(error) })
    return error
  }
}

function optionsFrom ([bootstrap, topic, group, ...named]: string[]): ConsumeOptions {
  const values = new Map(named.map(text => text.split('=', 2) as [string, string]))
  const from = values.get('from')
  return {
    bootstrap: bootstrap!, topic: topic!, group: group!, protocol: values.get('protocol') === 'consumer' ? 'consumer' : 'classic',
    fromMs: from === undefined ? undefined : Number(from), commitsByHand: values.get('commit') === 'hand', assignor: values.get('assignor'),
  }
}

async function produce (client: ServedClient, [bootstrap, topic, partitions]: string[]): Promise<void> {
  let running = true
  process.stdin.once('close', () => { running = false }).once('data', () => { running = false })
  const { send, close } = await client.producer(bootstrap!, topic!, Number(partitions))
  for (let count = 0; running; count++) {
    const sent = await send(`record ${count}`).catch(() => [])
    for (const { partition, offset } of sent) say('producer_send_success', { partition, offset })
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  await close()
}

/** Runs a JavaScript client: `topic BOOTSTRAP TOPIC PARTITIONS`, `produce` with the same, or `consume BOOTSTRAP TOPIC GROUP [NAME=VALUE…]`. */
export async function serve (client: ServedClient, [command, ...args]: string[]): Promise<void> {
  if (command === 'topic') await client.createTopic(args[0]!, args[1]!, Number(args[2]))
  else if (command === 'produce') await produce(client, args)
  else {
    const member = await client.consume(optionsFrom(args))
    for await (const line of createInterface(process.stdin)) {
      const [what, partition, offset] = line.split(' ')
      if (what === 'seek') await member.seek(Number(partition), Number(offset))
      else if (what === 'commit') await member.commit()
      else break
    }
    await member.leave()
    say('shutdown_complete')
  }
  process.exit(0)
}
