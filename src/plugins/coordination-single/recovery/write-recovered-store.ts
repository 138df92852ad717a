import { crc32c } from '../../../base/crc32c.ts'
import { type Uuid } from '../../../base/uuid.ts'
import { noVote, type HardState } from '../../../kernel/consensus-log/store-layout.ts'
import { VoterStore, type VoterStoreWorld } from '../io/voter-store.ts'

export interface RecoveredStore {
  readonly nodeId: number
  readonly clusterId: Uuid
  readonly directoryId: Uuid
  /** Behind all that the old log had, as far as is known. */
  readonly index: number
  readonly term: number
  readonly snapshot: Uint8Array
}

/**
 * Makes a store of one snapshot, with its witness, in a directory where there is none, and reads it again as a start does. A crash leaves a part that is
 * no store; it is for the caller to remove.
 */
export async function writeRecoveredStore(world: VoterStoreWorld, path: string, recovered: RecoveredStore): Promise<void> {
  const { nodeId, clusterId, directoryId, index, term, snapshot } = recovered
  const last = { index, term, chain: crc32c(snapshot) }
  const state: HardState = { nodeId, clusterId, directoryId, sequence: 1, term, vote: noVote, last }
  await VoterStore.make(world, path, state, snapshot)
  const { store, stored } = await VoterStore.open(world, { path, nodeId, clusterId, drawDirectoryId: () => directoryId })
  await store.close()
  const isSame = stored.last.index === index && stored.snapshot !== undefined && crc32c(stored.snapshot.bytes) === last.chain && stored.snapshot.bytes.length === snapshot.length
  if (!isSame) throw new Error('the store that was written is not the one that is read')
}
