import { expect, it } from 'vitest'
import { TroubleLog } from '../../../src/cli/trouble-log.ts'

it('trouble is said once, and again after ten seconds, but not before a first contact', () => {
  const said: string[] = []
  let nowMs = 0
  const log = new TroubleLog((text) => said.push(text), () => nowMs)
  const fail = (): void => { log.warn('cannot open a connection', { error: new Error('refused') }) }
  fail()
  log.isShown = true
  fail()
  fail()
  log.warn('something else')
  nowMs = 9_999
  fail()
  nowMs = 10_000
  fail()
  log.info()
  log.debug()
  expect(said).toEqual(['refused; trying again', 'something else', 'refused; trying again'])
})
