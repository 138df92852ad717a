import { type Uuid } from '../model/ids.ts'
import { token } from '../plugin/token.ts'

/** Who this broker is; fixed before anything starts. Read it in a start or later, not when an object is made: the cluster may not be known then. */
export interface BrokerIdentity {
  /** Of the cluster. Found in the `meta.properties` of a data directory, or else, unless the log store has the capability `identity`, in the metadata; drawn when there is none yet. */
  readonly clusterId: Uuid
  /** `node.id`, unique in the cluster. */
  readonly nodeId: number
  /** Drawn at each start of the process: tells two lives of one node apart. */
  readonly incarnationId: Uuid
  /**
   * The directory of a partition that was there before this start, for an example. Undefined: there is none, so that this may be a new
   * cluster. Whoever finds its own files empty although there are partitions has lost them, and must not begin anew.
   */
  readonly foundPartition?: string | undefined
}
export const BrokerIdentity = token<BrokerIdentity>('BrokerIdentity', {})
