import { type Family, type Instruments } from '../core/instruments.ts'

/**
 * The text that Prometheus scrapes, formatted by prom-client from a registry of this broker's own: two brokers in one process do not
 * mix, and none of prom-client's clocks or default metrics is used. It is loaded at the first scrape.
 */
export class PrometheusExposition {
  readonly #instruments: Instruments
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8'

  constructor(instruments: Instruments) {
    this.#instruments = instruments
  }

  async text(): Promise<string> {
    const { Registry } = await import('prom-client')
    const registry = new Registry()
    for (const family of this.#instruments.families()) registry.registerMetric(asPromMetric(family) as never)
    return await registry.metrics()
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
