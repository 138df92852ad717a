import { type MillraceError } from '../../../src/kernel/errors/index.ts'

/** A refusal without its numbers: two inputs that are refused alike have one shape. */
export function refusalShape(kind: string, error: MillraceError): string {
  return `${kind} ${error.code} ${error.message.replace(/\d+/g, '#').slice(0, 160)}`
}
