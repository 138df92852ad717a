import { describe, expect, it } from 'vitest'
import { describeError, exitCodeOf, formatTable, plural, UsageError } from '../../../src/cli/output.ts'
import { MillraceError } from '../../../src/kernel/errors/index.ts'

const plain = (text: string): string => text.replaceAll(/\u001b\[[\d;]*m/g, '')

describe('errors on the command line', () => {
  it('are one line with the code, whatever the message holds', () => {
    expect(plain(describeError(new MillraceError('MR_CONFIG_FILE', { path: 'x', reason: 'line one\n   line two\n' })))).toBe('error MR_CONFIG_FILE: configuration x: line one line two')
    expect(plain(describeError(new TypeError('boom')))).toBe('error MR_CLI_UNEXPECTED: boom')
    expect(plain(describeError('boom'))).toBe('error MR_CLI_UNEXPECTED: boom')
    expect(plain(describeError(new UsageError('no')))).toBe('error MR_CLI_USAGE: no')
  })

  it('exit with 2 where what was written is wrong, with 1 where the world said no', () => {
    const wrongUse = ['MR_CLI_USAGE', 'MR_CLI_CONFIRM_NEEDED', 'MR_CLI_NOT_AVAILABLE', 'MR_CONFIG_FILE', 'MR_CONFIG_UNKNOWN', 'MR_CLIENT_SETTING', 'MR_HOST_SETTING', 'MR_HOST_PLUGIN_NOT_FOUND', 'MR_NET_INSECURE'] as const
    expect(wrongUse.map((code) => exitCodeOf(new MillraceError(code)))).toEqual(wrongUse.map(() => 2))
    const failed = ['MR_CLI_INPUT', 'MR_CLI_UNEXPECTED', 'MR_NET_ADDRESS_IN_USE', 'MR_LOG_DIRECTORY_LOCKED', 'MR_TOPIC_EXISTS', 'MR_CLIENT_NO_BROKERS', 'MR_HOST_START_FAILED'] as const
    expect([...failed.map((code) => exitCodeOf(new MillraceError(code))), exitCodeOf(new Error('x')), exitCodeOf(undefined)]).toEqual([...failed, 0, 0].map(() => 1))
  })
})

describe('tables', () => {
  it('align numbers to the right and end no line with blanks', () => {
    expect(plain(formatTable(['name', 'n'], [['a', 1], ['long name', 1000]], { right: [1] }))).toBe('name          n\na             1\nlong name  1000')
  })

  it('fold the last column into the width that is left, unless too little is', () => {
    const text = 'a sentence that is longer than what is left'
    expect(plain(formatTable(['name', 'meaning'], [['a', text]], { width: 36 })).split('\n')).toEqual(['name  meaning', 'a     a sentence that is longer than', '      what is left'])
    expect(plain(formatTable(['name', 'meaning'], [['a', text]], { width: 20 })).split('\n')).toEqual(['name  meaning', `a     ${text}`])
  })

  it('have nothing but their head without rows', () => {
    expect(plain(formatTable(['a', 'b'], []))).toBe('a  b')
  })
})

it('counts are words that agree', () => {
  expect([plural(0, 'record'), plural(1, 'record'), plural(1_234_567, 'record'), plural(2, 'partition has', 'partitions have')]).toEqual(['0 records', '1 record', '1,234,567 records', '2 partitions have'])
})
