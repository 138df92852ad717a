import { describe, expect, it } from 'vitest'
import { scriptOptions } from '../../../scripts/script-options.ts'

const read = (...args: readonly string[]) => scriptOptions(args, { numbers: { seed: 1, hours: 8 }, fractions: ['hours'], flags: ['counts'] })

describe('the options of a script', () => {
  it('are what was given, else what they are by default', () => {
    expect(read()).toEqual({ numbers: { seed: 1, hours: 8 }, flags: new Set(), texts: {} })
    expect(read('--seed', '7', '--hours=0.5', '--counts')).toEqual({ numbers: { seed: 7, hours: 0.5 }, flags: new Set(['counts']), texts: {} })
  })

  it.each([
    [['--seed', 'x'], '--seed x: it takes a whole number'], [['--seed', '1.5'], '--seed 1.5: it takes a whole number'], [['--seed', ''], '--seed : it takes a whole number'],
    [['--hours', 'all'], '--hours all: it takes a number'], [['--sed', '1'], 'Unknown option \'--sed\''], [['1'], expect.stringContaining('Unexpected argument \'1\'')],
  ])('%j are refused with a sentence', (args, reason) => {
    expect(read(...args)).toEqual(reason)
  })

  it('may be words', () => {
    const words = (...args: readonly string[]) => scriptOptions(args, { numbers: {}, texts: { output: 'text', protocol: '' } })
    expect(words('-o', 'json', '--protocol', 'all by chance')).toMatchObject({ texts: { output: 'json', protocol: 'all by chance' } })
    expect(words()).toMatchObject({ texts: { output: 'text', protocol: '' } })
  })

  it('ask for help', () => {
    expect(read('--help')).toBe('help')
  })
})
