export { errorTable, type ErrorCode, type ErrorRow } from './error-table.ts'
export { errorText, MillraceError, isMillraceError, reasonOf, withoutStacks, type ErrorDetails } from './millrace-error.ts'
