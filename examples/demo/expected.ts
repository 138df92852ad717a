import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { FlightDigests, type AirportSum } from './airport-digest.ts'
import { readFlights } from './flights.ts'

/**
 * What must come out, from the file alone: reads it a second time, in a process of its own, and sums the flights of each airport in the order of the
 * file. Nothing of the broker or its client is involved.
 */
export function expectedSums(limit: number): Promise<Map<string, AirportSum>> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [String(limit)], { serialization: 'advanced' })
    child.once('message', (sums) => { resolve(sums as Map<string, AirportSum>) })
    child.once('error', reject)
    child.once('exit', (code) => { if (code !== 0) reject(new Error(`the process that reads the file again ended with ${code}`)) })
  })
}

async function sumFile(limit: number): Promise<Map<string, AirportSum>> {
  const digests = new FlightDigests()
  for await (const { count, dateMs, delay, distance, origin, destination } of readFlights(limit)) {
    for (let row = 0; row < count; row++) digests.of(origin[row]!).add(dateMs[row]!, delay[row]!, distance[row]!, destination[row]!)
  }
  return digests.sums()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Nobody is left to tell.
  process.once('disconnect', () => { process.exit() })
  const sums = await sumFile(Number(process.argv[2]))
  process.send!(sums, () => { process.disconnect() })
}
