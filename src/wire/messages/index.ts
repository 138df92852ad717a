import { type Api } from '../schema/message.ts'
import { produceApi } from './00-produce.ts'
import { fetchApi } from './01-fetch.ts'
import { listOffsetsApi } from './02-list-offsets.ts'
import { metadataApi } from './03-metadata.ts'
import { offsetCommitApi } from './08-offset-commit.ts'
import { offsetFetchApi } from './09-offset-fetch.ts'
import { findCoordinatorApi } from './10-find-coordinator.ts'
import { joinGroupApi } from './11-join-group.ts'
import { heartbeatApi } from './12-heartbeat.ts'
import { leaveGroupApi } from './13-leave-group.ts'
import { syncGroupApi } from './14-sync-group.ts'
import { describeGroupsApi } from './15-describe-groups.ts'
import { listGroupsApi } from './16-list-groups.ts'
import { saslHandshakeApi } from './17-sasl-handshake.ts'
import { apiVersionsApi } from './18-api-versions.ts'
import { createTopicsApi } from './19-create-topics.ts'
import { deleteTopicsApi } from './20-delete-topics.ts'
import { deleteRecordsApi } from './21-delete-records.ts'
import { initProducerIdApi } from './22-init-producer-id.ts'
import { offsetForLeaderEpochApi } from './23-offset-for-leader-epoch.ts'
import { addPartitionsToTxnApi } from './24-add-partitions-to-txn.ts'
import { addOffsetsToTxnApi } from './25-add-offsets-to-txn.ts'
import { endTxnApi } from './26-end-txn.ts'
import { writeTxnMarkersApi } from './27-write-txn-markers.ts'
import { txnOffsetCommitApi } from './28-txn-offset-commit.ts'
import { describeAclsApi } from './29-describe-acls.ts'
import { createAclsApi } from './30-create-acls.ts'
import { deleteAclsApi } from './31-delete-acls.ts'
import { describeConfigsApi } from './32-describe-configs.ts'
import { alterConfigsApi } from './33-alter-configs.ts'
import { describeLogDirsApi } from './35-describe-log-dirs.ts'
import { saslAuthenticateApi } from './36-sasl-authenticate.ts'
import { createPartitionsApi } from './37-create-partitions.ts'
import { deleteGroupsApi } from './42-delete-groups.ts'
import { electLeadersApi } from './43-elect-leaders.ts'
import { incrementalAlterConfigsApi } from './44-incremental-alter-configs.ts'
import { alterPartitionReassignmentsApi } from './45-alter-partition-reassignments.ts'
import { listPartitionReassignmentsApi } from './46-list-partition-reassignments.ts'
import { offsetDeleteApi } from './47-offset-delete.ts'
import { describeClientQuotasApi } from './48-describe-client-quotas.ts'
import { alterClientQuotasApi } from './49-alter-client-quotas.ts'
import { describeUserScramCredentialsApi } from './50-describe-user-scram-credentials.ts'
import { alterUserScramCredentialsApi } from './51-alter-user-scram-credentials.ts'
import { describeQuorumApi } from './55-describe-quorum.ts'
import { updateFeaturesApi } from './57-update-features.ts'
import { describeClusterApi } from './60-describe-cluster.ts'
import { describeProducersApi } from './61-describe-producers.ts'
import { describeTransactionsApi } from './65-describe-transactions.ts'
import { listTransactionsApi } from './66-list-transactions.ts'
import { consumerGroupHeartbeatApi } from './68-consumer-group-heartbeat.ts'
import { consumerGroupDescribeApi } from './69-consumer-group-describe.ts'
import { listConfigResourcesApi } from './74-list-config-resources.ts'
import { describeTopicPartitionsApi } from './75-describe-topic-partitions.ts'

export * from './00-produce.ts'
export * from './01-fetch.ts'
export * from './02-list-offsets.ts'
export * from './03-metadata.ts'
export * from './08-offset-commit.ts'
export * from './09-offset-fetch.ts'
export * from './10-find-coordinator.ts'
export * from './11-join-group.ts'
export * from './12-heartbeat.ts'
export * from './13-leave-group.ts'
export * from './14-sync-group.ts'
export * from './15-describe-groups.ts'
export * from './16-list-groups.ts'
export * from './17-sasl-handshake.ts'
export * from './18-api-versions.ts'
export * from './19-create-topics.ts'
export * from './20-delete-topics.ts'
export * from './21-delete-records.ts'
export * from './22-init-producer-id.ts'
export * from './23-offset-for-leader-epoch.ts'
export * from './24-add-partitions-to-txn.ts'
export * from './25-add-offsets-to-txn.ts'
export * from './26-end-txn.ts'
export * from './27-write-txn-markers.ts'
export * from './28-txn-offset-commit.ts'
export * from './29-describe-acls.ts'
export * from './30-create-acls.ts'
export * from './31-delete-acls.ts'
export * from './32-describe-configs.ts'
export * from './33-alter-configs.ts'
export * from './35-describe-log-dirs.ts'
export * from './36-sasl-authenticate.ts'
export * from './37-create-partitions.ts'
export * from './42-delete-groups.ts'
export * from './43-elect-leaders.ts'
export * from './44-incremental-alter-configs.ts'
export * from './45-alter-partition-reassignments.ts'
export * from './46-list-partition-reassignments.ts'
export * from './47-offset-delete.ts'
export * from './48-describe-client-quotas.ts'
export * from './49-alter-client-quotas.ts'
export * from './50-describe-user-scram-credentials.ts'
export * from './51-alter-user-scram-credentials.ts'
export * from './55-describe-quorum.ts'
export * from './57-update-features.ts'
export * from './60-describe-cluster.ts'
export * from './61-describe-producers.ts'
export * from './65-describe-transactions.ts'
export * from './66-list-transactions.ts'
export * from './68-consumer-group-heartbeat.ts'
export * from './69-consumer-group-describe.ts'
export * from './74-list-config-resources.ts'
export * from './75-describe-topic-partitions.ts'

/** Every API that this room can read and write, ascending by key. */
export const wireApis: readonly Api[] = [
  produceApi,
  fetchApi,
  listOffsetsApi,
  metadataApi,
  offsetCommitApi,
  offsetFetchApi,
  findCoordinatorApi,
  joinGroupApi,
  heartbeatApi,
  leaveGroupApi,
  syncGroupApi,
  describeGroupsApi,
  listGroupsApi,
  saslHandshakeApi,
  apiVersionsApi,
  createTopicsApi,
  deleteTopicsApi,
  deleteRecordsApi,
  initProducerIdApi,
  offsetForLeaderEpochApi,
  addPartitionsToTxnApi,
  addOffsetsToTxnApi,
  endTxnApi,
  writeTxnMarkersApi,
  txnOffsetCommitApi,
  describeAclsApi,
  createAclsApi,
  deleteAclsApi,
  describeConfigsApi,
  alterConfigsApi,
  describeLogDirsApi,
  saslAuthenticateApi,
  createPartitionsApi,
  deleteGroupsApi,
  electLeadersApi,
  incrementalAlterConfigsApi,
  alterPartitionReassignmentsApi,
  listPartitionReassignmentsApi,
  offsetDeleteApi,
  describeClientQuotasApi,
  alterClientQuotasApi,
  describeUserScramCredentialsApi,
  alterUserScramCredentialsApi,
  describeQuorumApi,
  updateFeaturesApi,
  describeClusterApi,
  describeProducersApi,
  describeTransactionsApi,
  listTransactionsApi,
  consumerGroupHeartbeatApi,
  consumerGroupDescribeApi,
  listConfigResourcesApi,
  describeTopicPartitionsApi,
]

const byKey: (Api | undefined)[] = []
for (const api of wireApis) byKey[api.key] = api

/** The API of a key, if this room has its messages. */
export function wireApi(key: number): Api | undefined {
  return byKey[key]
}
