import { clusterWide, fixed, row } from './broker-row.ts'
import { none, type BrokerConfigRow } from './config-row.ts'

const noTransactions = none('transactions are not served yet')

/** Transactions. */
export const brokerTransactionRows: readonly BrokerConfigRow[] = [
  row('add.partitions.to.txn.retry.backoff.max.ms', 'int', '100', fixed, noTransactions, 'Longest time of those retries.', { min: 0 }),
  row('add.partitions.to.txn.retry.backoff.ms', 'int', '20', fixed, noTransactions,
    'Pause of the server\'s own retries when a partition joins a transaction that still ends.', { min: 1 }),
  row('transaction.abort.timed.out.transaction.cleanup.interval.ms', 'int', '10000', fixed, noTransactions,
    'Time between two looks for transactions that timed out.', { min: 1 }),
  row('transaction.max.timeout.ms', 'int', '900000', fixed, noTransactions, 'Longest transaction timeout that a producer may ask for.', { min: 1 }),
  row('transaction.partition.verification.enable', 'boolean', 'true', clusterWide, noTransactions,
    'Whether a partition asks the coordinator if a transaction has really begun.'),
  row('transaction.remove.expired.transaction.cleanup.interval.ms', 'int', '3600000', fixed, noTransactions,
    'Time between two looks for transactional ids that have expired.', { min: 1 }),
  row('transaction.state.log.load.buffer.size', 'int', '5242880', fixed, noTransactions,
    'Bytes read at a time when transactions are loaded.', { min: 1 }),
  row('transaction.state.log.min.isr', 'int', '2', fixed, noTransactions, 'The min.insync.replicas of __transaction_state.', { min: 1 }),
  row('transaction.state.log.num.partitions', 'int', '50', fixed, noTransactions, 'Partitions of __transaction_state.', { min: 1 }),
  row('transaction.state.log.replication.factor', 'short', '3', fixed, noTransactions, 'Replication factor of __transaction_state.', { min: 1 }),
  row('transaction.state.log.segment.bytes', 'int', '104857600', fixed, noTransactions, 'Segment size of __transaction_state.', { min: 1 }),
  row('transaction.two.phase.commit.enable', 'boolean', 'false', fixed, noTransactions,
    'Whether producers may prepare a transaction for an outside coordinator.'),
  row('transactional.id.expiration.ms', 'int', '604800000', fixed, noTransactions,
    'Time after which an unused transactional id is forgotten.', { min: 1 }),
]
