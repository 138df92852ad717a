export { errorTable, type ErrorCode, type ErrorRow } from './error-table.ts'
export { MillraceError, isMillraceError, type ErrorDetails } from './millrace-error.ts'
