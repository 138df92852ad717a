import { clusterWide, fixed, row } from './broker-row.ts'
import { none, type BrokerConfigRow } from './config-row.ts'

const ownMetrics = none('metrics are offered by the observability plugin')
const noQuotas = none('there are no quotas')
const noPurgatory = none('who waits is taken off its list at once')

/** Metrics, quotas and housekeeping. */
export const brokerOtherRows: readonly BrokerConfigRow[] = [
  row('config.providers', 'list', '', clusterWide, none('values are taken as they are'), 'Providers that replace variables in settings.'),
  row('delete.records.purgatory.purge.interval.requests', 'int', '1', fixed, noPurgatory,
    'Finished DeleteRecords requests after which waiting ones are tidied up.'),
  row('fetch.purgatory.purge.interval.requests', 'int', '1000', fixed, noPurgatory, 'Finished fetches after which waiting ones are tidied up.'),
  row('kafka.metrics.polling.interval.secs', 'int', '10', fixed, ownMetrics, 'Seconds between two polls of metrics reporters.', { min: 1 }),
  row('kafka.metrics.reporters', 'list', '', fixed, ownMetrics, 'Classes that report metrics of the former kind.'),
  row('metric.reporters', 'list', 'org.apache.kafka.common.metrics.JmxReporter', clusterWide, ownMetrics, 'Classes that report metrics.'),
  row('metrics.num.samples', 'int', '2', fixed, ownMetrics, 'Samples kept to compute a metric.', { min: 1 }),
  row('metrics.recording.level', 'string', 'INFO', fixed, ownMetrics, 'Highest level of metrics that are recorded.'),
  row('metrics.sample.window.ms', 'long', '30000', fixed, ownMetrics, 'Length of a sample of a metric.', { min: 1 }),
  row('producer.purgatory.purge.interval.requests', 'int', '1000', fixed, noPurgatory,
    'Finished produce requests after which waiting ones are tidied up.'),
  row('quota.window.num', 'int', '11', fixed, noQuotas, 'Samples kept to measure clients.', { min: 1 }),
  row('quota.window.size.seconds', 'int', '1', fixed, noQuotas, 'Length of a sample of a client.', { min: 1 }),
  row('telemetry.max.bytes', 'int', '1048576', fixed, none('clients cannot push their metrics'),
    'Largest metrics message that a client may push.', { min: 1 }),
]
