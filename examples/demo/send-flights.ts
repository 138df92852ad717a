import { type Producer } from 'millrace/client'
import { flightRecord } from './flight-record.ts'
import { readFlights } from './flights.ts'
import { Latencies } from './latencies.ts'

/** Sent and not acknowledged yet. More would not be faster, and each record would wait longer. */
const underWayMax = 10_000
/** One of so many acknowledgements is timed. */
const timedEvery = 64

export interface Sent {
  readonly count: number
  readonly elapsedMs: number
  readonly valueBytes: number
  /** From `send` to the acknowledgement, under full load. */
  readonly ack: Latencies
}

/** Sends the first flights of the file in their order. Rejects when one is not acknowledged. */
export async function sendFlights(producer: Producer, topic: string, limit: number, onProgress: (sent: number) => void): Promise<Sent> {
  const ack = new Latencies()
  const startedMs = performance.now()
  let count = 0
  let acknowledged = 0
  let valueBytes = 0
  let wake: (() => void) | undefined
  const acknowledge = (): void => {
    acknowledged += 1
    if (wake === undefined || count - acknowledged > underWayMax / 2) return
    wake()
    wake = undefined
  }
  let failure: Error | undefined
  const fail = (error: Error): void => {
    failure ??= error
    acknowledge()
  }
  for await (const block of readFlights(limit)) {
    for (let row = 0; row < block.count; row++) {
      const record = flightRecord(topic, block, row)
      valueBytes += (record.value as string).length
      const sending = producer.send(record)
      if (++count % timedEvery === 0) {
        const sentMs = performance.now()
        sending.then(() => { ack.add(performance.now() - sentMs) }, () => undefined)
      }
      sending.then(acknowledge, fail)
      if (count - acknowledged < underWayMax) continue
      await new Promise<void>((resolve) => { wake = resolve })
      if (failure !== undefined) throw failure
      onProgress(count)
    }
    // The next part of the file is decoded in one go, and nobody should wait for an acknowledgement meanwhile.
    await producer.flush()
  }
  if (failure !== undefined) throw failure
  return { count, elapsedMs: performance.now() - startedMs, valueBytes, ack }
}

/** Sends `perSecond` small records a second, one at a time, and times each acknowledgement: what a record waits when nothing is in its way. */
export async function timeSingleRecords(producer: Producer, topic: string, perSecond: number, seconds: number): Promise<Latencies> {
  const ack = new Latencies()
  const total = perSecond * seconds
  const sending: Promise<void>[] = []
  const startedMs = performance.now()
  for (let count = 0; count < total;) {
    const dueCount = Math.min(total, Math.floor((performance.now() - startedMs) / 1_000 * perSecond) + 1)
    for (; count < dueCount; count++) {
      const sentMs = performance.now()
      sending.push(producer.send({ topic, value: `probe ${count}` }).then(() => { ack.add(performance.now() - sentMs) }))
    }
    await new Promise((resolve) => { setTimeout(resolve, 1) })
  }
  await Promise.all(sending)
  return ack
}
