import { type ConsumerRecord, type ProducerRecord } from 'millrace/client'
import { type AirportDigest } from './airport-digest.ts'
import { type FlightBlock } from './flights.ts'

interface FlightValue {
  readonly date: string
  readonly delay: number
  readonly distance: number
  readonly origin: string
  readonly destination: string
}

/** A flight as a record: its key is the airport it leaves from, its time the time of departure, its value JSON. */
export function flightRecord(topic: string, block: FlightBlock, row: number): ProducerRecord {
  const origin = block.origin[row]!
  const dateMs = block.dateMs[row]!
  const date = new Date(dateMs).toISOString()
  const value = `{"date":"${date}","delay":${block.delay[row]!},"distance":${block.distance[row]!},"origin":"${origin}","destination":"${block.destination[row]!}"}`
  return { topic, key: origin, value, timestamp: dateMs }
}

/** Adds what a record says, and nothing else that is known about it. Throws when key, time and value do not belong together. */
export function addRecord(record: ConsumerRecord, digestOf: (airport: string) => AirportDigest): void {
  const { date, delay, distance, origin, destination } = JSON.parse(record.text()!) as FlightValue
  const dateMs = Date.parse(date)
  if (record.keyText() !== origin || record.timestamp !== dateMs) {
    throw new Error(`${record.topic}-${record.partition} at ${record.offset}: key ${record.keyText()} and time ${record.timestamp} are not those of ${record.text()}`)
  }
  digestOf(origin).add(dateMs, delay, distance, destination)
}
