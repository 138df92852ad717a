import { clusterWide, fixed, perBroker, row } from './broker-row.ts'
import { intMax, none, refused, works, type BrokerConfigRow } from './config-row.ts'

const oneLoop = 'the data path runs on one event loop, without pools of threads'

/** Who the broker is, where it listens, and what it takes in. */
export const brokerNetworkRows: readonly BrokerConfigRow[] = [
  row('advertised.listeners', 'list', undefined, fixed, works, 'Addresses that clients are told, NAME://HOST:PORT; the listeners\' own if not set.', { filled: true }),
  row('background.threads', 'int', '10', clusterWide, none(oneLoop), 'Threads for background work.', { min: 1 }),
  row('broker.id', 'int', '-1', fixed, none('use node.id'), 'Former name of node.id.'),
  row('broker.rack', 'string', undefined, fixed, works, 'Rack or zone of this broker, as clients see it.'),
  row('connection.failed.authentication.delay.ms', 'int', '100', fixed, none('nobody has to authenticate'), 'Pause before a connection that failed to authenticate is closed.', { min: 0 }),
  row('connections.max.idle.ms', 'long', '600000', fixed, works, 'Time after which an idle connection is closed; -1 is never.', { min: 1, also: -1 }),
  row('connections.max.reauth.ms', 'long', '0', fixed, none('nobody has to authenticate'), 'Time after which a client must authenticate again; 0 is never.'),
  row('early.start.listeners', 'list', undefined, fixed, none('listeners open together, when the broker is ready'), 'Listeners that open before the broker is ready.'),
  row('fetch.max.bytes', 'int', '57671680', fixed, works, 'Largest answer to a fetch, in bytes, whatever the client asks for.', { min: 1024 }),
  row('listener.security.protocol.map', 'string', 'SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT', perBroker,
    works, 'Security protocol of each listener name. Only PLAINTEXT is served: a name of `listeners` that has another is refused.'),
  row('listeners', 'list', 'PLAINTEXT://127.0.0.1:9092', perBroker, works, 'Addresses to listen on, NAME://HOST:PORT; port 0 takes a free one.',
    { filled: true, differs: 'listening beyond this machine is a decision, not a default' }),
  row('max.connection.creation.rate', 'int', intMax, clusterWide, none('connections are bounded in number, not in rate'), 'Connections a second that are accepted.', { min: 0 }),
  row('max.connections', 'int', intMax, clusterWide, works, 'Connections that may be open at a time.', { min: 1, stricter: 'with 0 nobody could connect' }),
  row('max.connections.per.ip', 'int', intMax, clusterWide, works, 'Connections that may be open from one address; 0 shuts out all but those of max.connections.per.ip.overrides.', { min: 0 }),
  row('max.connections.per.ip.overrides', 'string', '', clusterWide, works, 'Other limits for some addresses: HOST:NUMBER, separated by commas.'),
  row('max.incremental.fetch.session.cache.slots', 'int', '1000', fixed, none('fetches are answered in full, without sessions'), 'Fetch sessions that are kept.', { min: 0 }),
  row('max.request.partition.size.limit', 'int', '2000', fixed, works, 'Partitions in one answer to DescribeTopicPartitions; a client goes on where it ended.', { min: 1 }),
  row('node.id', 'int', '1', fixed, works, 'Number of this node, unique in the cluster and kept for ever.', { min: 0, differs: 'Kafka has none and must be given one' }),
  row('num.io.threads', 'int', '8', clusterWide, none(oneLoop), 'Threads that handle requests.', { min: 1 }),
  row('num.network.threads', 'int', '3', clusterWide, none(oneLoop), 'Threads that read and write sockets.', { min: 1 }),
  row('queued.max.request.bytes', 'long', '268435456', fixed, works, 'Bytes of requests in memory at a time; above it sockets are not read; -1 is without bound. A quarter is kept for small ones. A half one that stands still for 5 s while others wait is closed.',
    { min: 1, also: -1, differs: 'memory is bounded' }),
  row('queued.max.requests', 'int', '500', fixed, none('requests are bounded in bytes, see queued.max.request.bytes'), 'Requests that may wait for a thread.', { min: 1 }),
  row('socket.listen.backlog.size', 'int', '50', fixed, none('the system\'s default is taken'), 'Connections that the system may hold before they are accepted.', { min: 1 }),
  row('socket.receive.buffer.bytes', 'int', '102400', fixed, none('the system sizes its own buffers'), 'Size of the system\'s receive buffer of a socket.'),
  row('socket.request.max.bytes', 'int', '104857600', fixed, works, 'Largest request that is read.', { min: 1024, stricter: 'a smaller one cannot hold a header with the names of a client and a topic' }),
  row('socket.send.buffer.bytes', 'int', '102400', fixed, none('the system sizes its own buffers'), 'Size of the system\'s send buffer of a socket.'),
  row('client.quota.callback.class', 'class', undefined, fixed, refused('Java classes cannot be loaded, and there are no quotas', ''), 'Class that decides client quotas.'),
]
