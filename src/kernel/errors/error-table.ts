/**
 * Every error that millrace gives, once. Codes are API: they are never reused and never change their meaning; messages may change.
 * `kafka` is the code that the wire protocol answers with, `http` the status of the operators' HTTP. `template` names what happened,
 * where (in braces, filled from the details) and what to do about it. Rows are sorted by area. docs/errors.md lists the same rows.
 */
export interface ErrorRow {
  /** `operational`: the world said no. `config`: a setting or a plugin is wrong. `request`: the caller sent something wrong. */
  readonly kind: 'operational' | 'config' | 'request'
  /** Whether the same call may succeed later without anybody changing it. */
  readonly retriable: boolean
  readonly kafka: number
  readonly http: number
  readonly template: string
}

const row = (kind: ErrorRow['kind'], retriable: boolean, kafka: number, http: number, template: string): ErrorRow => ({
  kind, retriable, kafka, http, template,
})

/**
 * Every error by its code: its kind, whether the same call may succeed later, the Kafka code and the HTTP status that stand for it, and its text with
 * `{details}`. docs/errors.md is made of it.
 */
export const errorTable = {
  // a broker as an object
  MR_BROKER_ENDED: row('operational', false, -1, 503, 'the broker in this process was stopped and answers nothing any more; close this client, and make both anew: createBroker, and createClient with its dispatcher'),
  MR_BROKER_NOT_SERVING: row('operational', true, -1, 503, 'this broker has no address for clients: {reason}'),
  MR_BROKER_STARTED: row('operational', false, -1, 500, 'this broker was started before, and a broker is started once; make another with createBroker'),
  MR_BROKER_STOPPED: row('operational', false, -1, 500, 'this broker was stopped before it was started, and does not start any more; make another with createBroker'),
  // the command line
  MR_CLI_CONFIRM_NEEDED: row('request', false, 42, 400, '{what}, and nobody is at a terminal to be asked; add --yes, or see with --dry-run what it would do'),
  MR_CLI_INPUT: row('request', false, 42, 400, '{path}, line {line}: {reason}'),
  MR_CLI_NOT_AVAILABLE: row('request', false, 35, 501, '{command}: this release does not have {what} yet; {instead}'),
  MR_CLI_UNEXPECTED: row('operational', false, -1, 500, '{reason}; millrace did not expect this: report it, with the command that you gave'),
  MR_CLI_USAGE: row('request', false, 42, 400, '{reason}'),
  // the client
  MR_CLIENT_AUTHENTICATION: row('request', false, 58, 401, 'broker {host}:{port} refused the authentication: {reason}; correct user name, password and mechanism under sasl'),
  MR_CLIENT_BROKER_BUSY: row('operational', true, -1, 503, '{what}: the broker answered {error}{message}; a later try may succeed'),
  MR_CLIENT_BROKER_REFUSED: row('operational', false, -1, 502, '{what}: the broker answered {error}{message}; correct what was asked for, or see the log of that broker'),
  MR_CLIENT_BUFFER_FULL: row('operational', true, 7, 503, 'the record for {topic} waited {waitedMs} ms for room among {bufferBytes} buffered bytes; send less at a time, or raise bufferBytesMax'),
  MR_CLIENT_CLOSED: row('operational', false, -1, 503, 'the {what} is closed; make another'),
  MR_CLIENT_DELIVERY_TIMEOUT: row('operational', true, 7, 504, 'a batch for {topic}-{partition} was not acknowledged within {timeoutMs} ms ({reason}), and may be stored or not; look whether it is there before it is sent again, or raise deliveryTimeoutMs'),
  MR_CLIENT_DISCONNECTED: row('operational', true, 13, 503, 'the connection to {host}:{port} ended before {api} was answered: {reason}; see whether that broker is well, and try again'),
  MR_CLIENT_GROUP_COMMIT_REFUSED: row('operational', false, 22, 409, 'the offsets of group {group} were not committed ({error}): their partitions are others\' by now; what was read and not committed is read again there; poll more often, with less each time, or raise pollIntervalMsMax'),
  MR_CLIENT_GROUP_FENCED: row('operational', false, 82, 409, 'this member of group {group} is fenced ({error}): {remedy}'),
  MR_CLIENT_GROUP_LISTENER_STUCK: row('operational', false, -1, 409, '{listener} of this member of group {group}, or what comes before it, has not ended for {timeoutMs} ms: the member has left its group, and joins again with a poll after that has ended; see what the listener waits for, or raise pollIntervalMsMax'),
  MR_CLIENT_GROUP_NO_OFFSET: row('request', false, 1, 404, 'group {group} has committed no offset of {topic}-{partition}; seek, or set offsetReset'),
  MR_CLIENT_GROUP_NOT_EMPTY: row('request', false, 68, 409, '{what}: group {group} has members; stop its consumers, wait until millrace group describe shows it empty, and try again'),
  MR_CLIENT_GROUP_REFUSED: row('operational', false, -1, 409, 'group {group} does not take this member ({error}): {remedy}'),
  MR_CLIENT_GROUP_UNKNOWN: row('request', false, 69, 404, 'there is no group {group}; millrace group list names those there are'),
  MR_CLIENT_LOG_TRUNCATED: row('operational', false, 1, 409, '{topic}-{partition} was cut back to offset {endOffset} by a new leader, and the position is {offset}; seek to where reading should go on'),
  MR_CLIENT_NO_BROKERS: row('operational', true, 13, 503, 'none of {brokers} can be reached: {reason}'),
  MR_CLIENT_NOT_AUTHORIZED: row('request', false, 31, 403, '{what}: the broker answered {error}{message}; let somebody who may grant it allow that to this user'),
  MR_CLIENT_OFFSET_OUT_OF_RANGE: row('request', false, 1, 416, 'offset {offset} of {topic}-{partition} is not there any more, or not yet; seek, or set onOffsetOutOfRange'),
  MR_CLIENT_PACKAGE_MISSING: row('config', false, -1, 500, '{what} needs the package {package}, and it cannot be loaded: {reason}; npm install {package}@{version}'),
  MR_CLIENT_PARTITION_LEADERLESS: row('operational', true, 5, 503, '{topic}-{partition} has no leader and cannot be used; its replicas on these brokers are offline: {offline}; the log and /healthz of those brokers say why'),
  MR_CLIENT_PARTITION_UNKNOWN: row('request', false, 3, 404, 'topic {topic} has no partition {partition}; it has {count}'),
  MR_CLIENT_RECORD_INVALID: row('request', false, 87, 400, 'the record for {topic} cannot be sent: {reason}'),
  MR_CLIENT_RECORD_TOO_LARGE: row('request', false, 10, 413, 'a record of {size} bytes for {topic} is over the limit of {limit}; raise requestBytesMax here and max.message.bytes there'),
  MR_CLIENT_RECORD_UNDECODABLE: row('request', false, 87, 422, 'the {part} of the record at offset {offset} of {topic}-{partition} cannot be decoded{at}: {reason}; its bytes are in record of this error; correct the serdes of the topic, or seek to offset + 1 to leave it behind'),
  MR_CLIENT_REQUEST_TIMEOUT: row('operational', true, 7, 504, '{api} was not answered by {host}:{port} within {timeoutMs} ms; see whether that broker is well, or raise requestTimeoutMs'),
  MR_CLIENT_SEQUENCE_LOST: row('operational', false, 45, 500, '{topic}-{partition}: the broker has lost acknowledged records of this producer: it answered {error}; look at the log of the broker, read which records are there, and send the rest with a new producer'),
  MR_CLIENT_SETTING: row('config', false, 40, 400, 'client setting {key}: {reason}'),
  MR_CLIENT_TLS: row('config', false, -1, 502, 'no TLS with {host}:{port}: {reason}; look at tls.ca and tls.serverName, and whether the port speaks TLS'),
  MR_CLIENT_UNSUPPORTED: row('request', false, 35, 501, '{what} is not supported: {reason}'),
  // cluster metadata and its consensus
  MR_CLUSTER_BROKER_EPOCH_STALE: row('operational', false, 77, 409, 'broker {nodeId} registered again since epoch {epoch}: another process runs with its node id; stop one of the two, or give it a node id of its own'),
  MR_CLUSTER_BROKER_NOT_REGISTERED: row('operational', true, 102, 409, 'broker {nodeId} is not registered; ask again when it is: it registers itself at its start'),
  MR_CLUSTER_METADATA_NEWER: row('config', false, 35, 500, 'the metadata was written by a newer release: {what}; start that release again, or a newer one'),
  MR_CLUSTER_NO_SPACE: row('operational', true, 56, 507, 'the disk of the metadata in {path} has {freeBytes} bytes free, and nothing is added to it below {floorBytes}; delete topics, lower their retention or free space otherwise, then ask again'),
  MR_CLUSTER_NOT_CONTROLLER: row('operational', true, 41, 503, 'broker {nodeId} is not the controller; ask {leaderId}'),
  MR_CLUSTER_STOPPED: row('operational', true, 41, 503, 'the metadata service is stopping; ask again after the restart'),
  MR_CLUSTER_METADATA_CORRUPT: row('operational', false, 56, 500, 'the metadata log in {path} is damaged at index {index}: {reason}; restore the whole directory from a backup, with its log and its witness, or save what is left: millrace cluster recover --help'),
  MR_CLUSTER_METADATA_UNREADABLE: row('operational', false, 56, 500, 'the metadata store in {path} cannot be opened or read: {reason}; if its disk is well, restore the whole directory from a backup, with its log and its witness, or save what is left: millrace cluster recover --help'),
  MR_CLUSTER_RECOVERY_UNFINISHED: row('operational', false, 56, 500, 'a recovery of the metadata in {path} was ended before its last step; run millrace cluster recover again, with the same data directories'),
  MR_CLUSTER_RECOVERY_REFUSED: row('config', false, 56, 500, 'the metadata in {path} is not recovered: {reason}'),
  MR_CLUSTER_METADATA_LOST: row('config', false, 56, 500, 'there is no metadata in {path}, while {partition} and its like belong to topics that were described there; put the whole directory {path} back from a backup, in place of what is there now, or make it again from the partitions: millrace cluster recover --help; or, to begin anew without these topics, move the partition directories away'),
  MR_CLUSTER_METADATA_OLDER: row('config', false, 56, 500, 'the metadata is older than the logs: {topic}-{partition} has records of leader epoch {found}, and the metadata knows it up to {known} ({logs} such logs in all); what was agreed since is not in it, so that topics would be set aside and producer ids given twice; put its newest copy back or, to go on without what is lost, with epochs and ids above those of the logs: millrace cluster recover --help'),
  MR_CLUSTER_DATA_EMPTY: row('config', false, 56, 500, '{paths} holds nothing, and the metadata of cluster {found} in {metadata} knows of {partitions} partitions: mount the disk that is missing, or name the data directory that has them; or, if they are gone for good and begin anew, empty, make a file meta.properties there that says {lines}'),
  MR_CLUSTER_METADATA_FOREIGN: row('config', false, 104, 500, 'the metadata is of cluster {found}, and the data directories say cluster {expected}; point both at the same cluster or, if the metadata is the right one, let meta.properties of the data directories say {lines}'),
  MR_CLUSTER_META_PROPERTIES_LOST: row('config', false, 104, 500, 'no meta.properties in {paths}, while {partition} and its like are there; restore the file or make it again, with the lines {lines}'),
  MR_CLUSTER_ID_MISMATCH: row('config', false, 104, 500, '{path} belongs to cluster {found}, not to {expected}; point data at the right directory'),
  MR_CLUSTER_NODE_MISMATCH: row('config', false, 104, 500, '{path} was written by node {found}, not by node {expected}; use the node id it was made with, or another directory'),
  MR_CLUSTER_TIMEOUT: row('operational', true, 7, 504, 'what was asked for was not done within {timeoutMs} ms; it may be done yet: see what is there before you try again'),
  // configuration of broker and topics
  MR_CONFIG_CHANGE_INVALID: row('request', false, 42, 400, 'changing settings of {resource}: {reason}'),
  MR_CONFIG_FILE: row('config', false, 40, 400, 'configuration {path}: {reason}'),
  MR_CONFIG_INVALID: row('request', false, 40, 400, 'invalid value {value} for {key}: {reason}'),
  MR_CONFIG_RESOURCE: row('request', false, 42, 400, 'no such settings: {reason}'),
  MR_CONFIG_UNKNOWN: row('request', false, 40, 400, 'unknown setting {key}{suggestion}'),
  MR_CONFIG_UNSUPPORTED: row('request', false, 40, 400, '{key}={value} is not supported here: {reason}'),
  // coordinators
  MR_COORDINATOR_LOADING: row('operational', true, 14, 503, 'the coordinator of {topic}-{partition} is reading its log; ask again'),
  MR_COORDINATOR_NOT_HERE: row('operational', true, 16, 503, 'this broker does not coordinate what is kept in {topic}-{partition}; ask FindCoordinator who does'),
  MR_COORDINATOR_RECORD_UNREADABLE: row('operational', false, 15, 500, 'the record at offset {offset} of {topic}-{partition} cannot be read: {reason}; start a release that knows it, or delete the records up to it'),
  MR_COORDINATOR_UNAVAILABLE: row('operational', true, 15, 503, 'the coordinator of {topic}-{partition} cannot do this now: {reason}; ask again'),
  // files
  MR_FILE_DENIED: row('operational', false, 56, 500, '{operation} {path}: permission denied or read-only; give this user the right to do that'),
  MR_FILE_EXISTS: row('operational', false, 56, 500, '{operation} {path}: it exists already; remove it, or choose another path'),
  MR_FILE_FAILED: row('operational', false, 56, 500, '{operation} {path}: {reason}'),
  MR_FILE_NOT_FOUND: row('operational', false, 56, 500, '{operation} {path}: not found; correct the path, or restore what was there'),
  MR_FILE_NO_SPACE: row('operational', true, 56, 507, '{operation} {path}: no space left on the device; free some or add a directory'),
  // groups
  MR_GROUP_UNSUPPORTED: row('request', false, 35, 501, 'this broker coordinates no consumer groups: no plugin for them is part of it; assign partitions by hand, or add the plugin'),
  // the plugin host
  MR_HOST_CAPABILITY_MISSING: row('config', false, -1, 500, 'plugin {plugin} needs the capability {capability}, and {provider} does not have it; choose a plugin that does'),
  MR_HOST_CONTRACT_VERSION: row('config', false, -1, 500, 'plugin {plugin} was written for contract {found}, this kernel has {expected}; install a matching version of the plugin'),
  MR_HOST_CYCLE: row('config', false, -1, 500, 'plugins need one another in a circle: {cycle}; one of them has to do without'),
  MR_HOST_PORT_MISSING: row('config', false, -1, 500, 'plugin {plugin} requires {port} and no plugin provides it; add one that does'),
  MR_HOST_PORT_TWICE: row('config', false, -1, 500, '{port} is provided by {first} and by {second}; {remedy}'),
  MR_HOST_PLUGIN_INVALID: row('config', false, -1, 500, 'plugin {plugin} is not usable: {reason}'),
  MR_HOST_PLUGIN_NAME_TWICE: row('config', false, -1, 500, 'two plugins are named {plugin}; remove one'),
  MR_HOST_PLUGIN_NOT_FOUND: row('config', false, -1, 500, 'plugin {plugin}: {reason}{suggestion}'),
  MR_HOST_SETTING: row('config', false, -1, 500, 'plugin {plugin}, setting {key}: {reason}{suggestion}'),
  MR_HOST_START_FAILED: row('operational', false, -1, 500, 'plugin {plugin} could not start: {reason}'),
  MR_HOST_STOP_FAILED: row('operational', false, -1, 500, 'plugin {plugin} did not stop in order: {reason}; what it had not finished is recovered at the next start'),
  MR_HOST_STOP_TIMEOUT: row('operational', false, -1, 500, 'plugin {plugin} did not stop within {deadlineMs} ms; what it had not finished is recovered at the next start'),
  // partition logs
  MR_LOG_CLOSED: row('operational', true, 6, 503, 'the log of {topic}-{partition} is closed: its topic was deleted, or the broker stops; ask for metadata again'),
  MR_LOG_CORRUPT: row('operational', false, 2, 500, 'the log of {topic}-{partition} is damaged at offset {offset} in {path}: {reason}; stop the broker and restore the file from a copy; to give up what lies behind the damage, copy the directory, lower the number of the partition in recovery-point-offset-checkpoint, and remove the blanks at the end of the last line there'),
  MR_LOG_DIRECTORY_COPIED: row('config', false, 56, 500, '{first} and {second} have the same directory.id: one is a copy of the other; take it out of log.dirs'),
  MR_LOG_DIRECTORY_FULL: row('operational', true, 56, 507, 'the disk of the data directory {path} is full, {freeBytes} bytes are free and nothing is left of the reserve, and the start needs room to {what}; free some MiB on that disk and start again'),
  MR_LOG_DIRECTORY_LIST_CORRUPT: row('operational', false, 56, 500, '{path}, which says which data directories this broker has, is damaged, and no other is there to make it from; see that all of them are there and in log.dirs, then remove it: it is made anew from those'),
  MR_LOG_DIRECTORY_LOCKED: row('config', false, 56, 500, '{path} is in use by another broker process; stop it, or choose another data directory'),
  MR_LOG_DIRECTORY_MISSING: row('config', false, 56, 500, 'a data directory of this broker is not there: {missing}; {lists} says that it is one, so that it may hold records that were acknowledged; mount its disk, or put it back into log.dirs (--data, data); or, if it is gone for good, give up what was in it: name it in the setting of storage-local lostDirectories: [{ids}]'),
  MR_LOG_DIRECTORY_OFFLINE: row('operational', true, 56, 503, 'the data directory {path} is offline since {reason}; look at the disk and restart the broker'),
  MR_LOG_MISSING: row('operational', false, 56, 500, 'the log of {topic}-{partition} is not served: {what} is missing in {path}, and a checkpoint says that the log went up to offset {end}; stop the broker and {remedy}'),
  MR_LOG_NO_MEMORY: row('operational', true, -1, 503, 'there is no memory for the compaction of {topic}-{partition}: {reason}; it is tried again; lower log.cleaner.dedupe.buffer.size, or give this process more memory'),
  MR_LOG_OFFSET_OUT_OF_RANGE: row('request', false, 1, 416, 'offset {offset} of {topic}-{partition} is outside [{start}, {end}]; choose one within'),
  MR_LOG_PARTITION_TWICE: row('config', false, 56, 500, 'the partition {partition} is in {first} and in {second}; move one of the two directories away'),
  MR_LOG_REDO_CORRUPT: row('operational', false, 56, 500, 'the redo log in {path} is damaged: {reason}; restore it, or move it away with the file .millrace-redo-run beside it and start again, to give up what only it holds'),
  MR_LOG_REDO_MISSING: row('operational', false, 56, 500, 'the redo log that {mark} says a start needs is not in {path}: {reason}; restore it, or remove {mark} and start again, to give up what only the redo log held'),
  MR_LOG_ROTTEN: row('operational', false, 56, 500, 'offsets {first} to {last} of {topic}-{partition} are damaged on the disk and not served: {path} at byte {position}: {reason}; restore that file from a copy while the broker is stopped, or give them up: delete the records below {next}, or read on from there'),
  MR_LOG_STORE_STOPPED: row('operational', true, 6, 503, 'the log store was stopped before its start had finished; what was not loaded yet is by the next start'),
  // the network
  MR_NET_ADDRESS_IN_USE: row('config', false, -1, 500, '{host}:{port} is in use by another process; stop it or choose another port'),
  MR_NET_CLOSED: row('operational', true, 13, 503, 'the connection to {host}:{port} closed: {reason}; connect again'),
  MR_NET_CONNECT: row('operational', true, 13, 503, 'cannot connect to {host}:{port}: {reason}; see that the address is right, and that somebody listens there'),
  MR_NET_HTTP: row('operational', true, 13, 503, 'no answer from {host} over HTTP: {reason}; see that the address is right, and that the server is up'),
  MR_NET_INSECURE: row('config', false, -1, 500, 'listening on {host} reaches beyond this machine and no authentication is set up; listen on 127.0.0.1, or say --insecure (insecure: true) if the network is trusted'),
  MR_NET_LISTEN: row('config', false, -1, 500, 'cannot listen on {host}:{port}: {reason}; choose another address or port'),
  // idempotent producers
  MR_PRODUCER_EPOCH_FENCED: row('request', false, 47, 409, 'producer {producerId} with epoch {epoch} is fenced on {topic}-{partition}: a newer instance has epoch {current}; stop this one, or let it ask for a new epoch'),
  MR_PRODUCER_OUT_OF_ORDER: row('request', false, 45, 409, 'producer {producerId}, epoch {epoch} sent sequence {sequence} to {topic}-{partition}, where its last one is {last}; begin again with a new producer id, after a look at which records are there'),
  // the wire protocol
  MR_PROTOCOL_FIELD_VERSION: row('request', false, 35, 400, '{what} cannot be sent in version {version}, and may not be left out; leave it at its default or use a version that has it'),
  MR_PROTOCOL_FRAME_SIZE: row('request', false, 42, 400, 'a frame of {size} bytes is outside [{min}, {max}]; raise socket.request.max.bytes if the client is right'),
  MR_PROTOCOL_HANDLER: row('config', false, -1, 500, 'the API {api} can not be served: {reason}; remove or correct the plugin'),
  MR_PROTOCOL_MALFORMED: row('request', false, 42, 400, 'cannot read {what} at byte {position}: {reason}'),
  MR_PROTOCOL_REQUEST_SLOW: row('request', true, 42, 408, 'a request has not arrived in full after {timeoutMs} ms, {bytes} bytes of it are there; raise requestReadTimeoutMs if the client is right'),
  MR_PROTOCOL_UNANSWERABLE: row('request', false, 42, 400, 'a batch with acks=0 for {topic}-{partition} failed: {reason}; nobody waits for an answer, so the connection closes'),
  MR_PROTOCOL_UNSUPPORTED_API: row('request', false, 35, 400, '{api} is not served; ask ApiVersions what is'),
  MR_PROTOCOL_UNSUPPORTED_VERSION: row('request', false, 35, 400, 'version {version} of {api} is not served; it is served from {min} to {max}'),
  MR_PROTOCOL_UNWRITABLE: row('request', false, 42, 400, 'cannot write {what}: {reason}; correct that value'),
  // record batches
  MR_RECORD_BATCH_INVALID: row('request', false, 87, 400, 'invalid record batch: {reason}; correct what the producer sends'),
  MR_RECORD_CODEC_UNAVAILABLE: row('operational', false, 76, 501, 'the codec {codec} is not there; {remedy}'),
  MR_RECORD_CORRUPT: row('request', true, 2, 400, 'corrupt record batch: {reason}; send it again, or where it was read from a disk, look there with millrace log inspect'),
  MR_RECORD_DECOMPRESSED_TOO_LARGE: row('request', false, 10, 413, 'the batch decompresses to more than {limit} bytes; send fewer records in one batch'),
  MR_RECORD_TIMESTAMP_INVALID: row('request', false, 32, 400, 'invalid timestamp in a record batch: {reason}; correct it, or change message.timestamp.before.max.ms or message.timestamp.after.max.ms of the topic'),
  MR_RECORD_TOO_LARGE: row('request', false, 10, 413, 'a batch of {size} bytes is over max.message.bytes={limit} of {topic}; send smaller batches, or raise it with millrace topic alter'),
  // schema registries
  MR_REGISTRY_INCOMPATIBLE: row('request', false, 87, 409, '{what}: the schema registry refuses it: {reason}; change the schema, or the compatibility level of the subject'),
  MR_REGISTRY_NOT_FOUND: row('request', false, 87, 404, '{what}: the schema registry has none: {reason}; register it first (autoRegister: true does), or point url at the registry that has it'),
  MR_REGISTRY_REFUSED: row('config', false, -1, 502, '{what}: the schema registry at {url} answered {status}: {reason}; look at url, and at the log of that registry'),
  MR_REGISTRY_UNAUTHORIZED: row('config', false, 31, 401, '{what}: the schema registry at {url} answered {status}: {reason}; look at auth, and at what that user may do'),
  MR_REGISTRY_UNAVAILABLE: row('operational', true, -1, 503, '{what}: no schema registry of {urls} can do it now: {reason}; a later try may succeed'),
  // replicas
  MR_REPLICA_NOT_LEADER: row('operational', true, 6, 503, 'broker {nodeId} does not lead {topic}-{partition}; ask for metadata again'),
  // topics
  MR_TOPIC_ASSIGNMENT_INVALID: row('request', false, 39, 400, 'topic {topic}: {reason}'),
  MR_TOPIC_DELETION_DISABLED: row('request', false, 73, 403, 'topics cannot be deleted while delete.topic.enable is false; set it to true and restart the broker'),
  MR_TOPIC_EXISTS: row('request', false, 36, 409, 'topic {topic} exists already; choose another name, or delete it first'),
  MR_TOPIC_NAME_INVALID: row('request', false, 17, 400, 'invalid topic name {topic}: {reason}'),
  MR_TOPIC_NAME_RESERVED: row('request', false, 29, 403, 'the name {topic} is that of the metadata log; choose another name'),
  MR_TOPIC_PARTITIONS_INVALID: row('request', false, 37, 400, 'topic {topic}: {reason}'),
  MR_TOPIC_REPLICATION_INVALID: row('request', false, 38, 400, 'topic {topic}: {reason}'),
  MR_TOPIC_REQUEST_INVALID: row('request', false, 42, 400, 'topic {topic}: {reason}'),
  MR_TOPIC_UNKNOWN: row('request', true, 3, 404, 'topic {topic} does not exist{suggestion}'),
  MR_TOPIC_UNKNOWN_ID: row('request', true, 100, 404, 'no topic has the id {topicId}; ask for metadata again'),
  // transactions
  MR_TRANSACTION_UNSUPPORTED: row('request', false, 35, 501, 'this broker has no transactions; leave transactional.id unset'),
} as const satisfies Record<`MR_${string}`, ErrorRow>

/** The codes of the table. They are stable: a code is never given another meaning. Messages may change. */
export type ErrorCode = keyof typeof errorTable
