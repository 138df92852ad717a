import { describe, expect, it } from 'vitest'
import { check, type Outcome } from '../../../scripts/check.ts'

/** Parts end when they are told to; a command is its part's name. */
function bench() {
  let nowMs = 0
  const [running, ended, printed]: [string[], Map<string, (part: Outcome) => void>, string[]] = [[], new Map(), []]
  const run = ([name]: readonly string[]): Promise<Outcome> => {
    running.push(name!)
    return new Promise((resolve) => { ended.set(name!, resolve) })
  }
  const part = (name: string) => ({ name, command: [name] })
  const result = check([[part('types'), part('lint')], [part('tests')]], run, (text: string) => { printed.push(text) }, () => nowMs)
  const end = async (name: string, outcome: Outcome): Promise<void> => {
    nowMs += 1500
    ended.get(name)!(outcome)
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  return { running, printed, result, end }
}

describe('a check', () => {
  it('runs lanes beside one another, their parts in order, and prints each whole when it has ended', async () => {
    const { running, printed, result, end } = bench()
    expect(running).toEqual(['types', 'tests'])
    await end('types', { ok: true, output: '' })
    expect(running).toEqual(['types', 'tests', 'lint'])
    await end('tests', { ok: true, output: 'a line\nanother\n' })
    await end('lint', { ok: true, output: '' })
    expect(await result).toEqual([])
    expect(printed).toEqual(['types: ok, 1.5 s\n', 'tests: ok, 3.0 s\na line\nanother\n', 'lint: ok, 3.0 s\n'])
  })

  it('goes on when a part has failed, and names all that have', async () => {
    const { printed, result, end } = bench()
    await end('tests', { ok: false, output: 'expected 1' })
    await end('types', { ok: false, output: 'no such name' })
    await end('lint', { ok: true, output: '' })
    expect(await result).toEqual(['types', 'tests'])
    expect(printed[0]).toBe('tests: FAILED, 1.5 s\nexpected 1\n')
  })
})
