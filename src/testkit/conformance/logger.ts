import { type Logger } from '../../kernel/ports/telemetry.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** A logger, and what it has told. */
export interface LoggerSubject {
  readonly logger: Logger
  /** Every line that was told so far, in order, as a text with its level, message and fields in it, of whatever form. All levels are on. */
  readonly lines: () => readonly string[]
}

/** A Logger to examine. */
export interface LoggerConformance {
  readonly test: DeclareTest
  readonly create: () => LoggerSubject
}

const levels = ['debug', 'info', 'warn', 'error'] as const

/** What every Logger promises. */
export function loggerConformance({ test, create }: LoggerConformance): void {
  const claim = (title: string, body: (subject: LoggerSubject) => void): void => {
    test(title, async () => { body(create()) })
  }

  claim('each call is a line with level, message and fields, in the order of the calls', ({ logger, lines }) => {
    levels.forEach((level, index) => { logger[level](`message ${index}`, { place: `here ${index}`, count: 40 + index }) })
    const told = lines()
    checkEqual(told.length, levels.length, 'lines')
    levels.forEach((level, index) => {
      for (const part of [level, `message ${index}`, `here ${index}`, String(40 + index)]) check(told[index]!.includes(part), `line ${index} has ${part}: ${told[index]}`)
    })
  })
  claim('a line needs no fields', ({ logger, lines }) => {
    logger.info('alone')
    check(lines().length === 1 && lines()[0]!.includes('alone'), 'it is there')
  })
  claim('a child adds its fields to its own lines, to those of its children, and to no others', ({ logger, lines }) => {
    const child = logger.child({ part: 'of-the-child' })
    child.child({ inner: 'of-its-child' }).warn('third', { own: 'of-the-line' })
    child.info('second')
    logger.info('first')
    const [third, second, first] = lines() as [string, string, string]
    for (const part of ['of-the-child', 'of-its-child', 'of-the-line']) check(third.includes(part), `the child's child says ${part}: ${third}`)
    check(second.includes('of-the-child') && !second.includes('of-its-child') && !second.includes('of-the-line'), `the child says what is its own: ${second}`)
    check(!first.includes('of-the-child'), `the parent says nothing of its child: ${first}`)
  })
  claim('an error among the fields is told with its message and that of its cause', ({ logger, lines }) => {
    logger.error('failed', { error: new Error('the disk went away', { cause: new Error('pulled out') }) })
    const [line] = lines() as [string]
    check(line.includes('the disk went away') && line.includes('pulled out'), `both are in ${line}`)
  })
  claim('fields that cannot be written do not throw, and cost no line after them', ({ logger, lines }) => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const awkward: readonly unknown[] = [
      circle, 1n, Symbol('s'), () => 1, undefined, null, NaN, new Map([[1, 2]]), new Uint8Array(3), 'line\nend', '\ud800',
      { toJSON: () => { throw new Error('no') } }, { get value(): never { throw new Error('no') } },
    ]
    for (const value of awkward) {
      logger.info('awkward', { value })
      logger.child({ value }).info('awkward, too')
    }
    logger.info('afterwards')
    check(lines().at(-1)!.includes('afterwards'), 'the next line is there')
  })
  claim('what is changed after the call is told as it was', ({ logger, lines }) => {
    const fields = { state: 'before' }
    logger.info('a change', fields)
    fields.state = 'later'
    check(lines()[0]!.includes('before'), 'the line has what was')
  })
}
