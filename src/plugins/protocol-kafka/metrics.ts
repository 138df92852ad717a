import { type Counter, type Histogram, type Metrics } from '../../kernel/ports/telemetry.ts'
import { apiName } from '../../wire/api-keys.ts'
import { kafkaErrorName } from '../../wire/kafka-error-codes.ts'

const secondsBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export interface ApiInstruments {
  readonly requests: Counter
  readonly seconds: Histogram
}

export interface TopicInstruments {
  readonly producedBytes: Counter
  readonly producedRecords: Counter
  readonly fetchedBytes: Counter
}

const topicCounters: Readonly<Record<keyof TopicInstruments, string>> = {
  producedBytes: 'millrace_topic_produced_bytes_total',
  producedRecords: 'millrace_topic_produced_records_total',
  fetchedBytes: 'millrace_topic_fetched_bytes_total',
}

/** The instruments of this plugin. Those of hot paths are looked up once and kept. */
export class ProtocolMetrics {
  readonly receivedBytes: Counter
  readonly sentBytes: Counter
  readonly refusedConnections: Counter
  /** Set by who knows it, read when somebody looks. */
  connections: () => number = () => 0
  waitingFetches = 0
  waitingProduces = 0
  heldRequestBytes: () => number = () => 0
  private readonly metrics: Metrics
  private readonly apis = new Map<number, ApiInstruments>()
  private readonly topics = new Map<string, TopicInstruments>()
  private readonly errors = new Map<number, Counter>()

  constructor(metrics: Metrics) {
    this.metrics = metrics
    this.receivedBytes = metrics.counter('millrace_protocol_received_bytes_total', 'Bytes that came in from clients.')
    this.sentBytes = metrics.counter('millrace_protocol_sent_bytes_total', 'Bytes that went out to clients.')
    this.refusedConnections = metrics.counter('millrace_protocol_refused_connections_total', 'Connections closed at once for a limit.')
    metrics.gauge('millrace_protocol_connections', 'Open connections of clients.', () => this.connections())
    metrics.gauge('millrace_protocol_held_request_bytes', 'Bytes of requests that wait in memory.', () => this.heldRequestBytes())
    metrics.gauge('millrace_protocol_waiting_requests', 'Requests that wait: fetches for records, produces for their watermark.', () => [
      { labels: { api: apiName(1) }, value: this.waitingFetches },
      { labels: { api: apiName(0) }, value: this.waitingProduces },
    ])
  }

  api(key: number): ApiInstruments {
    let found = this.apis.get(key)
    if (found === undefined) {
      const labels = { api: apiName(key) }
      found = {
        requests: this.metrics.counter('millrace_protocol_requests_total', 'Requests by API.', labels),
        seconds: this.metrics.histogram('millrace_protocol_request_seconds', 'Time from a request to its answer, waiting included.', secondsBuckets, labels),
      }
      this.apis.set(key, found)
    }
    return found
  }

  topic(name: string): TopicInstruments {
    let found = this.topics.get(name)
    if (found === undefined) {
      const labels = { topic: name }
      found = {
        producedBytes: this.metrics.counter(topicCounters.producedBytes, 'Bytes of batches appended for producers.', labels),
        producedRecords: this.metrics.counter(topicCounters.producedRecords, 'Records appended for producers.', labels),
        fetchedBytes: this.metrics.counter(topicCounters.fetchedBytes, 'Bytes of batches sent to consumers.', labels),
      }
      this.topics.set(name, found)
    }
    return found
  }

  /** The topic is gone: its instruments take no memory, and are told no more. */
  forgetTopic(name: string): void {
    if (!this.topics.delete(name)) return
    for (const counter of Object.values(topicCounters)) this.metrics.forget(counter, { topic: name })
  }

  /** Counts one error that a client was told. */
  error(apiKey: number, code: number): void {
    const key = apiKey * 1024 + code
    let counter = this.errors.get(key)
    if (counter === undefined) {
      counter = this.metrics.counter('millrace_protocol_errors_total', 'Errors told to clients, by API and code.', { api: apiName(apiKey), code: kafkaErrorName(code) })
      this.errors.set(key, counter)
    }
    counter.add(1)
  }
}
