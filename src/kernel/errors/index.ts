export { errorTable, type ErrorCode, type ErrorRow } from './error-table.ts'
export { MillraceError, isMillraceError, reasonOf, type ErrorDetails } from './millrace-error.ts'
