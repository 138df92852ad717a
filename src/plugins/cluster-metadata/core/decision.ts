import { type MetadataRecord } from './metadata-records.ts'

/** What a command comes to: the records to agree on, and the answer once they are. No records: the command changes nothing. */
export interface Decision<R> {
  readonly records: readonly MetadataRecord[]
  readonly reply: R
}
