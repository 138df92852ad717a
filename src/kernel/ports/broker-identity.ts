import { type Uuid } from '../model/ids.ts'
import { token } from '../plugin/token.ts'

/** Who this broker is; fixed before anything starts. */
export interface BrokerIdentity {
  /** Of the cluster. Found in the `meta.properties` of the first data directory, or drawn when there is none yet. */
  readonly clusterId: Uuid
  /** `node.id`, unique in the cluster. */
  readonly nodeId: number
  /** Drawn at each start of the process: tells two lives of one node apart. */
  readonly incarnationId: Uuid
}
export const BrokerIdentity = token<BrokerIdentity>('BrokerIdentity')
