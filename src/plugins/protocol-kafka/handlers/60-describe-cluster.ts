import { type ClusterMetadata } from '../../../kernel/ports/cluster-metadata.ts'
import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type describeClusterApi, type DescribeClusterRequest } from '../../../wire/messages/60-describe-cluster.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { clusterOperations, operationsNotAsked } from '../core/authorized-operations.ts'
import { knownBrokers } from '../core/reachable-brokers.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof describeClusterApi>

const brokersType = 1
const controllersType = 2

/**
 * DescribeCluster v0-2: the brokers and the controller, which is a broker that lives (quirk 18). v1: only brokers can be asked for here (quirk 24). v2: those that are
 * registered and not known to be alive too, where the client asks for them.
 */
export class DescribeClusterHandler implements ProtocolHandler {
  readonly apiKey = 60
  readonly minVersion = rangeOf(60).min
  readonly maxVersion = rangeOf(60).max
  private readonly metadata: ClusterMetadata

  constructor(metadata: ClusterMetadata) {
    this.metadata = metadata
  }

  handle(request: DescribeClusterRequest, exchange: Exchange): void {
    const { endpointType } = request
    if (endpointType !== brokersType) {
      const code = endpointType === controllersType ? kafkaErrors.MISMATCHED_ENDPOINT_TYPE : kafkaErrors.UNSUPPORTED_ENDPOINT_TYPE
      exchange.reply(this.failure(request, code))
      return
    }
    const image = this.metadata.image()
    exchange.reply({
      throttleTimeMs: 0,
      errorCode: kafkaErrors.NONE,
      clusterId: image.clusterId,
      controllerId: image.controllerId,
      brokers: knownBrokers(image, exchange.listener).filter(({ isFenced }) => request.includeFencedBrokers || !isFenced)
        .map(({ nodeId, host, port, rack, isFenced }) => ({ brokerId: nodeId, host, port, rack, isFenced })),
      clusterAuthorizedOperations: request.includeClusterAuthorizedOperations ? clusterOperations : operationsNotAsked,
    } satisfies Response)
  }

  failure({ endpointType }: DescribeClusterRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, errorCode, endpointType, clusterId: '', brokers: [] }
  }
}
