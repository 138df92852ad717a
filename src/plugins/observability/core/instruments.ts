import { type Counter, type GaugeSample, type Histogram, type Labels } from '../../../kernel/ports/telemetry.ts'

export interface Sample {
  readonly suffix: '' | '_bucket' | '_sum' | '_count'
  readonly labels: Labels
  readonly value: number
}

/** One name with its help, its kind, and all label sets seen so far. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  samples(): readonly Sample[]
}

class PlainCounter implements Counter {
  readonly labels: Labels
  value = 0

  constructor(labels: Labels) {
    this.labels = labels
  }

  add(amount: number): void {
    this.value += amount
  }
}

class PlainHistogram implements Histogram {
  readonly labels: Labels
  readonly #bounds: Float64Array
  readonly #counts: Float64Array
  #sum = 0
  #count = 0

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels
    this.#bounds = Float64Array.from(bounds)
    this.#counts = new Float64Array(bounds.length)
  }

  observe(value: number): void {
    this.#sum += value
    this.#count += 1
    const bounds = this.#bounds
    for (let at = 0; at < bounds.length; at += 1) {
      if (value <= bounds[at]!) {
        this.#counts[at]! += 1
        return
      }
    }
  }

  samples(): Sample[] {
    const samples: Sample[] = []
    let below = 0
    this.#bounds.forEach((bound, at) => {
      below += this.#counts[at]!
      samples.push({ suffix: '_bucket', labels: { ...this.labels, le: String(bound) }, value: below })
    })
    samples.push({ suffix: '_bucket', labels: { ...this.labels, le: '+Inf' }, value: this.#count })
    samples.push({ suffix: '_sum', labels: this.labels, value: this.#sum })
    samples.push({ suffix: '_count', labels: this.labels, value: this.#count })
    return samples
  }
}

/** All instruments of one broker. They are plain numbers: adding costs nanoseconds, and nothing is formatted until somebody looks. */
export class Instruments {
  readonly #families = new Map<string, Family>()
  readonly #counters = new Map<string, PlainCounter>()
  readonly #histograms = new Map<string, PlainHistogram>()

  counter(name: string, help: string, labels: Labels): Counter {
    return this.#instrument(this.#counters, name, labels, () => new PlainCounter(labels), {
      name, help, kind: 'counter',
      samples: () => this.#ofFamily(this.#counters, name).map(({ labels: set, value }) => ({ suffix: '' as const, labels: set, value })),
    })
  }

  histogram(name: string, help: string, bounds: readonly number[], labels: Labels): Histogram {
    return this.#instrument(this.#histograms, name, labels, () => new PlainHistogram(labels, bounds), {
      name, help, kind: 'histogram', samples: () => this.#ofFamily(this.#histograms, name).flatMap((each) => each.samples()),
    })
  }

  forget(name: string, labels: Labels): void {
    const key = keyOf(name, labels)
    this.#counters.delete(key)
    this.#histograms.delete(key)
  }

  gauge(name: string, help: string, read: () => number | readonly GaugeSample[]): void {
    this.reading(name, 'gauge', help, read)
  }

  /** What somebody else counts, read when somebody looks. */
  reading(name: string, kind: 'counter' | 'gauge', help: string, read: () => number | readonly GaugeSample[]): void {
    this.#families.set(name, {
      name, help, kind,
      samples: () => {
        const value = read()
        return typeof value === 'number' ? [{ suffix: '', labels: {}, value }] : value.map((each) => ({ suffix: '', ...each }))
      },
    })
  }

  families(): readonly Family[] {
    return [...this.#families.values()].sort((left, right) => left.name < right.name ? -1 : 1)
  }

  #instrument<I>(map: Map<string, I>, name: string, labels: Labels, make: () => I, family: Family): I {
    const key = keyOf(name, labels)
    let instrument = map.get(key)
    if (instrument === undefined) {
      instrument = make()
      map.set(key, instrument)
      if (!this.#families.has(name)) this.#families.set(name, family)
    }
    return instrument
  }

  #ofFamily<I>(map: Map<string, I>, name: string): I[] {
    return [...map].filter(([key]) => key.startsWith(`${name}\n`)).map(([, instrument]) => instrument)
  }
}

const keyOf = (name: string, labels: Labels): string => `${name}\n${JSON.stringify(Object.entries(labels).sort())}`
