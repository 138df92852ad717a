import { zeroUuid, type Uuid } from '../../../base/uuid.ts'
import { type LogPosition } from '../../../kernel/consensus-log/log-entry.ts'
import { decodePosition, noVote, witnessKey, type FirstHardState, type HardState } from '../../../kernel/consensus-log/store-layout.ts'
import { standingOf } from '../../../kernel/consensus-log/witness-check.ts'
import { type WitnessReading } from '../../../kernel/consensus-log/witness.ts'
import { isMillraceError, MillraceError } from '../../../kernel/errors/index.ts'
import { type KeyValueEngine } from '../../../kernel/ports/key-value-store.ts'
import { corruptMetadata, type StoreContent } from './store-reader.ts'

/** What is to be done before the store is used. */
export interface Admission {
  readonly state: HardState
  /** `none`: the two agree. `catch up`: the witness is to be written. `begin`: so is the state, after a witness that is not there yet was made. */
  readonly todo: 'none' | 'catch up' | 'begin'
}

export interface AdmissionQuestion {
  readonly path: string
  readonly nodeId: number
  readonly content: StoreContent
  /** Undefined: there is no file. */
  readonly witness: WitnessReading | undefined
  readonly drawDirectoryId: () => Uuid
}

/** A store that has a state of this release's format. Throws MR_CLUSTER_METADATA_CORRUPT unless everything that was promised is in it. */
export function admitStore({ path, content, witness, nodeId }: AdmissionQuestion, state: HardState): Admission {
  checkNode(path, state, nodeId)
  const { last } = content
  if (last.index < state.last.index) throw corruptMetadata(path, last.index + 1, `the log ends before, and goes up to ${state.last.index} by its own account`)
  if (last.index > state.last.index) throw corruptMetadata(path, state.last.index + 1, 'it comes after the end of the log: an entry that was removed is back')
  if (last.chain !== state.last.chain) throw corruptMetadata(path, last.index, 'it is not the entry that the log ends with by its own account')
  if (witness === undefined) throw corruptMetadata(path, last.index + 1, 'the witness of what was acknowledged is gone; whether the store has all of it can not be told')
  refuseNewer(path, witness)
  const standing = standingOf(state, witness)
  if (typeof standing === 'object') throw corruptMetadata(path, last.index + 1, standing.reason)
  const promised = witness.newest!.last
  // One voter never takes an entry back.
  if (promised.index > last.index || !holds(content, promised)) throw corruptMetadata(path, promised.index, 'it is not the entry that was acknowledged')
  return { state, todo: standing === 'ahead' ? 'catch up' : 'none' }
}

/** A store of format 1, or one that was never used, whose witness in the old form was checked. A crash may have left the new one already. */
export function adoptStore({ path, nodeId, content, witness, drawDirectoryId }: AdmissionQuestion, first: FirstHardState | undefined): Admission {
  if (first !== undefined) checkNode(path, first, nodeId)
  else if (!content.isEmpty) throw corruptMetadata(path, content.last.index, 'the hard state of the voter is gone')
  const { last } = content
  const term = Math.max(first?.term ?? 0, last.term)
  if (witness === undefined) {
    const state = { nodeId, clusterId: zeroUuid, directoryId: drawDirectoryId(), sequence: 1, term, vote: noVote, last: { index: last.index, term: last.term, chain: last.chain } }
    return { state, todo: 'begin' }
  }
  refuseNewer(path, witness)
  const { newest, damage } = witness
  if (newest === undefined) throw corruptMetadata(path, last.index + 1, `the witness of what was acknowledged can not be read: ${damage}`)
  if (newest.sequence !== 1 || newest.nodeId !== nodeId || newest.term !== term || newest.last.index !== last.index || newest.last.chain !== last.chain) {
    throw corruptMetadata(path, last.index + 1, `entries up to ${newest.last.index} in term ${newest.term} were acknowledged, and it ends at ${last.index} in term ${term}`)
  }
  return { state: newest, todo: 'begin' }
}

/** Checks a store of format 1 by the store that was its witness. The log may hold more: written, and not yet acknowledged. */
export async function checkFirstWitness(engine: KeyValueEngine, path: string, content: StoreContent): Promise<void> {
  const stored = await firstWitness(engine, path)
  const { entries, last, pointer } = content
  if (stored === undefined) {
    // Written with every append but the one that a crash came into: the first of all.
    const isFirstAppend = pointer === undefined && entries.every(({ term }) => term === entries[0]!.term)
    if (!isFirstAppend) throw corruptMetadata(path, last.index + 1, 'the witness of what was acknowledged is gone; whether the store has all of it can not be told')
    return
  }
  const seen = decodePosition(stored)
  if (typeof seen === 'string') throw corruptMetadata(path, last.index, seen)
  if (seen.index > last.index) throw corruptMetadata(path, last.index + 1, `entries up to ${seen.index} were acknowledged, and it ends before`)
  if (!holds(content, seen)) throw corruptMetadata(path, seen.index, 'it is not the entry that was acknowledged')
}

async function firstWitness(engine: KeyValueEngine, path: string): Promise<Uint8Array | undefined> {
  let store
  try {
    store = await engine.open(`${path}/witness`, { create: false })
  } catch (error) {
    if (isMillraceError(error, 'MR_FILE_NOT_FOUND')) return undefined
    throw error
  }
  try {
    return await store.get(witnessKey)
  } finally {
    await store.close()
  }
}

/** What lies before the snapshot is in it. */
function holds({ pointer, entries }: StoreContent, position: LogPosition): boolean {
  const start = pointer?.index ?? 0
  const same = position.index === start ? pointer : entries[position.index - start - 1]
  return same === undefined || same.chain === position.chain
}

function checkNode(path: string, state: Pick<HardState, 'nodeId'>, nodeId: number): void {
  if (state.nodeId !== nodeId) throw new MillraceError('MR_CLUSTER_NODE_MISMATCH', { path, found: state.nodeId, expected: nodeId })
}

function refuseNewer(path: string, { newerFormat }: WitnessReading): void {
  if (newerFormat === undefined) return
  throw new MillraceError('MR_CLUSTER_METADATA_NEWER', { what: `the witness in ${path} has format ${newerFormat}` })
}
