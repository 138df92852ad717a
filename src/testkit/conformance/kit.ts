import { isMillraceError, type ErrorCode } from '../../kernel/errors/index.ts'

/**
 * What a conformance kit needs of a test framework: vitest's `test`, node:test's, or a function of your own that calls the body.
 * A body that throws or rejects is a contract broken.
 */
export type DeclareTest = (title: string, body: () => Promise<void>) => void

/** Thrown by the kits' own checks, so that they need no assertion library. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
}

/** Throws a ConformanceError with the claim where the condition does not hold. */
export function check(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new ConformanceError(claim)
}

/** Compares numbers, strings, booleans, bytes, and arrays and plain objects of them. */
export function checkEqual(actual: unknown, expected: unknown, claim: string): void {
  if (!sameValue(actual, expected)) throw new ConformanceError(`${claim}: got ${show(actual)}, not ${show(expected)}`)
}

/** Throws a ConformanceError with the claim where the call does not throw a MillraceError of this code. */
export function checkThrows(code: ErrorCode, run: () => unknown, claim: string): void {
  let result: unknown
  try {
    result = run()
  } catch (error) {
    return checkCode(code, error, claim)
  }
  throw new ConformanceError(`${claim}: no ${code}, but ${show(result)}`)
}

/** Throws a ConformanceError with the claim where the promise does not reject with a MillraceError of this code. */
export async function checkRejects(code: ErrorCode, promise: Promise<unknown>, claim: string): Promise<void> {
  let result: unknown
  try {
    result = await promise
  } catch (error) {
    return checkCode(code, error, claim)
  }
  throw new ConformanceError(`${claim}: no ${code}, but ${show(result)}`)
}

/** Throws a ConformanceError with the claim where it is not a MillraceError of this code. */
export function checkCode(code: ErrorCode, error: unknown, claim: string): void {
  if (!isMillraceError(error, code)) throw new ConformanceError(`${claim}: not ${code}, but ${String(error)}`)
}

/** Runs the bodies of a kit one after another and gives the titles of those that failed: for testing a kit against broken fakes. */
export async function failuresOf(declare: (test: DeclareTest) => void): Promise<string[]> {
  const bodies: (readonly [string, () => Promise<void>])[] = []
  declare((title, body) => bodies.push([title, body]))
  const failed: string[] = []
  for (const [title, body] of bodies) {
    try {
      await body()
    } catch {
      failed.push(title)
    }
  }
  return failed
}

/** The same up to the first that failed, or undefined: whether a kit finds that something is broken. */
export async function firstFailureOf(declare: (test: DeclareTest) => void): Promise<string | undefined> {
  const bodies: (readonly [string, () => Promise<void>])[] = []
  declare((title, body) => bodies.push([title, body]))
  for (const [title, body] of bodies) {
    try {
      await body()
    } catch {
      return title
    }
  }
  return undefined
}

function sameValue(left: unknown, right: unknown): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return left.length === right.length && left.every((byte, index) => byte === right[index])
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => sameValue(item, right[index]))
  }
  if (isPlainObject(left) && isPlainObject(right)) {
    const keys = Object.keys(left)
    return keys.length === Object.keys(right).length && keys.every(key => key in right && sameValue(left[key], right[key]))
  }
  return Object.is(left, right)
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) return value.length > 40 ? `${value.length} bytes` : `bytes [${value.join(' ')}]`
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (isPlainObject(value)) return `{ ${Object.entries(value).map(([key, item]) => `${key}: ${show(item)}`).join(', ')} }`
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value)
}
