import { describe, expect, it } from 'vitest'
import { FlightDigests, type AirportSum } from '../../../examples/demo/airport-digest.ts'
import { Latencies } from '../../../examples/demo/latencies.ts'
import { verify } from '../../../examples/demo/verify.ts'

type Flight = readonly [airport: string, dateMs: number, delay: number, distance: number, destination: string]

const flights: readonly Flight[] = [['LAS', 978_307_260_000, 33, 2176, 'PHL'], ['LAS', 978_307_260_000, 19, 215, 'SAV'], ['ATL', 978_307_320_000, -14, 405, 'MDW']]

function sums(list: readonly Flight[]): Map<string, AirportSum> {
  const digests = new FlightDigests()
  for (const [airport, dateMs, delay, distance, destination] of list) digests.of(airport).add(dateMs, delay, distance, destination)
  return digests.sums()
}

const failing = (list: readonly Flight[]): string[] => verify(sums(flights), sums(list)).filter((check) => !check.holds).map((check) => check.claim)

describe('what the demo proves can fail', () => {
  it('holds for the same flights in the same order', () => {
    expect(failing(flights)).toEqual([])
  })

  it('sees a flight that is missing, doubled, altered in any field, at another airport, or out of order', () => {
    const [first, second, third] = flights as readonly [Flight, Flight, Flight]
    expect(failing([first, third]).length).toBe(3)
    expect(failing([first, second, second, third]).length).toBe(3)
    expect(failing([first, third, second])).toEqual([])
    expect(failing([second, first, third]).length).toBe(1)
    expect(failing([first, ['ATL', ...second.slice(1)] as unknown as Flight, third]).length).toBe(2)
    for (let field = 1; field <= 4; field++) {
      const changed = second.map((value, index) => index !== field ? value : typeof value === 'number' ? value + 1 : 'SAW') as unknown as Flight
      expect(failing([first, changed, third]).length, `field ${field}`).toBe(1)
    }
  })
})

it('quantiles of latencies are those of the sorted list', () => {
  const latencies = new Latencies()
  for (const ms of [5, 1, 4, 2, 3, 10, 9, 8, 7, 6]) latencies.add(ms)
  expect([latencies.quantile(0), latencies.quantile(0.5), latencies.quantile(0.99), new Latencies().quantile(0.5)]).toEqual([1, 6, 10, NaN])
})
