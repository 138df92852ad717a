import { type BrokerEndpoint, type BrokerImage, type ClusterImage } from '../../../kernel/ports/cluster-metadata.ts'

export interface ReachableBroker {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** The brokers that live and that a client of this listener can reach. */
export function reachableBrokers(image: ClusterImage, listener: string): ReachableBroker[] {
  return knownBrokers(image, listener).filter(({ isFenced }) => !isFenced)
}

/** Those that are registered and not known to be alive too. */
export function knownBrokers(image: ClusterImage, listener: string): (ReachableBroker & { readonly isFenced: boolean })[] {
  return [...image.brokers.values()].flatMap((broker) => {
    const endpoint = endpointOn(broker, listener)
    if (endpoint === undefined) return []
    return [{ nodeId: broker.nodeId, host: endpoint.host, port: endpoint.port, rack: broker.rack ?? null, isFenced: broker.fenced }]
  })
}

export function endpointOn(broker: BrokerImage, listener: string): BrokerEndpoint | undefined {
  return broker.endpoints.find((endpoint) => endpoint.listener === listener)
}
