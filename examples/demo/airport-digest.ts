/** The flights of one airport so far: how many, and a digest that depends on their contents and their order. */
export class AirportDigest {
  count = 0
  #high = 0x811c9dc5
  #low = 0x9e3779b9

  /** Takes the next flight of this airport. */
  add(dateMs: number, delay: number, distance: number, destination: string): void {
    this.count += 1
    this.#mix(dateMs / 0x1_0000_0000)
    this.#mix(dateMs)
    this.#mix(delay)
    this.#mix(distance)
    for (let index = 0; index < destination.length; index++) this.#mix(destination.charCodeAt(index))
  }

  get digest(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }

  /** Two 32-bit sums with unlike multipliers; both are odd, so no step loses what came before. */
  #mix(value: number): void {
    this.#high = Math.imul(this.#high ^ value, 0x01000193) + 0x7ed55d16 | 0
    this.#low = Math.imul(this.#low ^ value, 0x85ebca6b) + (this.#high >>> 15) | 0
  }
}

export interface AirportSum {
  readonly count: number
  readonly digest: string
}

export class FlightDigests {
  readonly #airports = new Map<string, AirportDigest>()

  of(airport: string): AirportDigest {
    let digest = this.#airports.get(airport)
    if (digest === undefined) this.#airports.set(airport, digest = new AirportDigest())
    return digest
  }

  sums(): Map<string, AirportSum> {
    return new Map([...this.#airports].map(([airport, { count, digest }]) => [airport, { count, digest }]))
  }
}
