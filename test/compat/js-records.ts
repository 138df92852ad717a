import { decodeContent, decodeStream, encodeContent, encodeReceived, type StreamRecord } from './record-stream.ts'

/** The two sides of a JavaScript client, given and giving whole records. */
export interface JsRecords {
  version (): string
  produce (bootstrap: string, topic: string, codec: string, records: StreamRecord[]): Promise<void>
  /** Calls `take` for every record until it says false. */
  consume (
    bootstrap: string, topic: string, take: (partition: number, offset: number, record: StreamRecord) => boolean,
  ): Promise<void>
}

async function readStdin (): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Runs a JavaScript client as a record program, with the arguments of the C and Go ones. */
export async function serveRecords (client: JsRecords, [command, bootstrap, topic, codecOrPartitions, count]: string[]): Promise<void> {
  if (command === 'version') return console.log(client.version())
  if (command === 'produce') {
    const records = decodeStream(await readStdin()).map(({ content }) => decodeContent(content))
    await client.produce(bootstrap!, topic!, codecOrPartitions!, records)
  } else {
    const frames: Buffer[] = []
    await client.consume(bootstrap!, topic!, (partition, offset, record) => {
      frames.push(encodeReceived(partition, offset, encodeContent(record)))
      return frames.length < Number(count)
    })
    await new Promise(resolve => process.stdout.write(Buffer.concat(frames), resolve))
  }
  process.exit(0)
}
