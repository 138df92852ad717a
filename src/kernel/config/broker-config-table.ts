import { brokerClusterRows } from './broker-cluster-rows.ts'
import { brokerGroupRows } from './broker-group-rows.ts'
import { brokerLogRows } from './broker-log-rows.ts'
import { brokerNetworkRows } from './broker-network-rows.ts'
import { brokerOtherRows } from './broker-other-rows.ts'
import { brokerRemoteRows } from './broker-remote-rows.ts'
import { brokerSecurityRows } from './broker-security-rows.ts'
import { brokerShareRows } from './broker-share-rows.ts'
import { brokerTransactionRows } from './broker-transaction-rows.ts'
import { type BrokerConfigRow } from './config-row.ts'

/**
 * Every setting of a broker: those of Apache Kafka 4.4 under their names and defaults, and ours (`durability`, `batch.check`).
 * Sorted by name. docs/config.md is made from it.
 */
export const brokerConfigTable: readonly BrokerConfigRow[] = [
  ...brokerClusterRows, ...brokerGroupRows, ...brokerLogRows, ...brokerNetworkRows, ...brokerOtherRows, ...brokerRemoteRows, ...brokerSecurityRows,
  ...brokerShareRows, ...brokerTransactionRows,
].sort((left, right) => (left.name < right.name ? -1 : 1))

/** By name. */
export const brokerConfigs: ReadonlyMap<string, BrokerConfigRow> = new Map(brokerConfigTable.map((entry) => [entry.name, entry]))
