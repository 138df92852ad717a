import { Registry } from 'prom-client'
import { type Family, type Instruments } from '../core/instruments.ts'

/**
 * The text that Prometheus scrapes, formatted by prom-client from a registry of this broker's own: two brokers in one process do not
 * mix, and none of prom-client's clocks or default metrics is used.
 */
export class PrometheusExposition {
  readonly #instruments: Instruments
  readonly contentType = new Registry().contentType

  constructor(instruments: Instruments) {
    this.#instruments = instruments
  }

  text(): Promise<string> {
    const registry = new Registry()
    for (const family of this.#instruments.families()) registry.registerMetric(asPromMetric(family) as never)
    return registry.metrics()
  }
}

const asPromMetric = (family: Family): object => ({
  name: family.name,
  get: () => Promise.resolve({
    name: family.name,
    help: family.help,
    type: family.kind,
    aggregator: 'sum',
    values: family.samples().map(({ suffix, labels, value }) => ({ metricName: family.name + suffix, labels, value })),
  }),
})
