import { type BrokerEndpoint, type BrokerImage, type ClusterImage } from '../../../kernel/ports/cluster-metadata.ts'

export interface ReachableBroker {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** The brokers that live and that a client of this listener can reach. */
export function reachableBrokers(image: ClusterImage, listener: string): ReachableBroker[] {
  const brokers: ReachableBroker[] = []
  for (const broker of image.brokers.values()) {
    const endpoint = broker.fenced ? undefined : endpointOn(broker, listener)
    if (endpoint !== undefined) brokers.push({ nodeId: broker.nodeId, host: endpoint.host, port: endpoint.port, rack: broker.rack ?? null })
  }
  return brokers
}

export function endpointOn(broker: BrokerImage, listener: string): BrokerEndpoint | undefined {
  return broker.endpoints.find((endpoint) => endpoint.listener === listener)
}
