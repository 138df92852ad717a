import { isMillraceError, MillraceError, reasonOf } from '../../kernel/errors/index.ts'
import { type ConsumerRecord } from '../consumer/consumer-record.ts'
import { pathOf, type SerdePlace } from './serde.ts'

/**
 * MR_CLIENT_RECORD_UNDECODABLE: a record that its topic's serdes make nothing of, or whose validator refuses it. Its details have topic, partition, offset, part
 * (`key` or `value`), path and reason. Recognise it with `isUndecodable`.
 */
export class UndecodableRecordError extends MillraceError {
  /** As it was read: `record.key`, `record.value` and `record.headers` are its bytes. */
  readonly record: ConsumerRecord

  constructor(record: ConsumerRecord, { part }: SerdePlace, cause: unknown) {
    const { topic, partition, offset } = record
    const path = pathOf(cause)
    super('MR_CLIENT_RECORD_UNDECODABLE', { topic, partition, offset, part, path, at: path === '' ? '' : ` at ${path}`, reason: reasonOf(cause) }, cause)
    this.record = record
  }
}

/** Whether an error is about one record that cannot be decoded, which it carries. */
export function isUndecodable(error: unknown): error is UndecodableRecordError {
  return isMillraceError(error, 'MR_CLIENT_RECORD_UNDECODABLE') && 'record' in error
}

/** Whether the record is not at fault for an error of its serde: a registry that cannot be reached, a package that is not there. */
export function isOutside(error: unknown): boolean {
  return isMillraceError(error) && error.row.kind !== 'request'
}
