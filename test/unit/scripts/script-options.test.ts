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

  it('may be words of a few, one or several; one that is none of them is refused with those that are', () => {
    const words = (...args: readonly string[]) => scriptOptions(args, { numbers: {}, texts: { output: 'text', target: 'all', rows: '' }, choices: { target: ['all', 'files'] }, lists: { rows: ['small', 'large'] } })
    expect(words('--target', 'files', '--rows', 'large,small')).toMatchObject({ texts: { target: 'files', rows: 'large,small' } })
    expect(words('--target', 'nonsense')).toBe('--target nonsense: it takes one of all, files')
    expect(words('--rows', 'small,nonsense')).toBe('--rows nonsense: it takes some of small, large')
    expect(words('--rows', '')).toBe('--rows "": it takes some of small, large')
    expect(words('-o', 'yaml')).toBe('--output yaml: it takes one of text, json')
  })

  it('may have to be above 0', () => {
    expect(scriptOptions(['--rounds', '0'], { numbers: { rounds: 3 }, positive: ['rounds'] })).toBe('--rounds 0: it takes a number above 0')
  })

  it('ask for help', () => {
    expect(read('--help')).toBe('help')
  })
})
