import { createConsumer, type Consumer } from 'millrace/client'
import { FlightDigests, type AirportSum } from './airport-digest.ts'
import { addRecord } from './flight-record.ts'

export interface ReaderShare {
  readonly partitions: readonly number[]
  readonly records: number
  readonly airports: number
}

export interface Read {
  readonly count: number
  readonly elapsedMs: number
  readonly shares: readonly ReaderShare[]
  readonly sums: ReadonlyMap<string, AirportSum>
}

export interface ReadOptions {
  readonly bootstrap: string
  readonly topic: string
  readonly partitions: number
  readonly readers: number
  /** Reading ends when so many records were read in all. */
  readonly count: number
  readonly onProgress: (read: number) => void
}

/** Reads a topic from its beginning with several consumers, each on its share of the partitions and over a connection of its own. */
export async function readFlights(options: ReadOptions): Promise<Read> {
  const startedMs = performance.now()
  const done = new AbortController()
  let count = 0
  const onRecords = (records: number): void => {
    count += records
    options.onProgress(count)
    if (count >= options.count) done.abort()
  }
  const readers = Array.from({ length: options.readers }, (_, index) => new FlightReader(options, index))
  try {
    await Promise.all(readers.map((reader) => reader.run(done.signal, onRecords)))
  } finally {
    done.abort()
    await Promise.all(readers.map((reader) => reader.close()))
  }
  const sums = new Map<string, AirportSum>()
  for (const [airport, sum] of readers.flatMap((reader) => [...reader.sums()])) {
    if (sums.has(airport)) throw new Error(`records of ${airport} are in partitions of two consumers`)
    sums.set(airport, sum)
  }
  return { count, elapsedMs: performance.now() - startedMs, shares: readers.map((reader) => reader.share()), sums }
}

class FlightReader {
  readonly #consumer: Consumer
  readonly #partitions: readonly number[]
  readonly #digests = new FlightDigests()
  #records = 0

  constructor({ bootstrap, topic, partitions, readers }: ReadOptions, index: number) {
    this.#consumer = createConsumer({ bootstrap, clientId: `demo-reader-${index + 1}` })
    this.#partitions = Array.from({ length: partitions }, (_, partition) => partition).filter((partition) => partition % readers === index)
    this.#consumer.assign(this.#partitions.map((partition) => ({ topic, partition, offset: 'beginning' })))
  }

  async run(done: AbortSignal, onRecords: (records: number) => void): Promise<void> {
    const digestOf = this.#digests.of.bind(this.#digests)
    while (!done.aborted) {
      const records = await this.#consumer.poll({ maxRecords: 2_000, signal: done }).catch((error: unknown) => {
        // Another reader has read the last record.
        if (done.aborted) return []
        throw error
      })
      for (const record of records) addRecord(record, digestOf)
      this.#records += records.length
      if (records.length > 0) onRecords(records.length)
      // Broker, producer and readers share this thread: each batch of records is one turn.
      await new Promise((resolve) => { setImmediate(resolve) })
    }
  }

  sums(): Map<string, AirportSum> {
    return this.#digests.sums()
  }

  share(): ReaderShare {
    return { partitions: this.#partitions, records: this.#records, airports: this.sums().size }
  }

  close(): Promise<void> {
    return this.#consumer.close()
  }
}
