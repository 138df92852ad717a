import { MillraceError } from '../errors/index.ts'
import { type PartitionId } from '../model/ids.ts'

/** What a round of compaction failed with. Where an array found no memory, in this thread or in one whose errors come as copies, that is no defect: the round is tried again. */
export function compactionFailure(error: unknown, { topic, partition }: Pick<PartitionId, 'topic' | 'partition'>): unknown {
  return isAllocationFailure(error) ? new MillraceError('MR_LOG_NO_MEMORY', { topic, partition, reason: error.message }, error) : error
}

function isAllocationFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'RangeError' && error.message === 'Array buffer allocation failed'
}
