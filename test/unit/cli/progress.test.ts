import { describe, expect, it } from 'vitest'
import { Progress } from '../../../src/cli/progress.ts'

function screen(isTTY: boolean): { text: () => string, stream: { isTTY: boolean, columns: number, write: (text: string) => boolean }, clock: { nowMs: number } } {
  let text = ''
  return { text: () => text.replaceAll(/\u001b\[[\d;]*m/g, ''), stream: { isTTY, columns: 80, write: (each: string) => { text += each; return true } }, clock: { nowMs: 0 } }
}

describe('progress', () => {
  it('is a bar that is drawn over itself on a terminal, ten times a second at most', () => {
    const { stream, clock, text } = screen(true)
    const progress = new Progress('work', { total: 100, stream: stream as never, nowMs: () => clock.nowMs })
    progress.at(1, 'soon')
    expect(text()).toBe('')
    clock.nowMs = 100
    progress.at(50, 'half')
    progress.at(51, 'more')
    expect(text()).toBe(`\r\u001b[2Kwork ${'━'.repeat(14)}${'─'.repeat(14)}  50%  half`)
    progress.clear()
    expect(text().endsWith('\r\u001b[2K')).toBe(true)
  })

  it('never wraps: what is too long for the line is cut', () => {
    const { stream, clock, text } = screen(true)
    const progress = new Progress('work', { total: 100, stream: stream as never, nowMs: () => clock.nowMs })
    clock.nowMs = 100
    progress.at(100, 'x'.repeat(200))
    expect(text().replace('\r\u001b[2K', '').length).toBeLessThan(80)
  })

  it('has no bar where the end is not known', () => {
    const { stream, clock, text } = screen(true)
    const progress = new Progress('work', { stream: stream as never, nowMs: () => clock.nowMs })
    clock.nowMs = 100
    progress.at(5, '5 records')
    expect(text()).toBe('\r\u001b[2Kwork 5 records')
  })

  it('is a line every five seconds elsewhere, and nothing for short work', () => {
    const { stream, clock, text } = screen(false)
    const progress = new Progress('work', { total: 100, stream: stream as never, nowMs: () => clock.nowMs })
    clock.nowMs = 4_999
    progress.at(49, '49 records')
    progress.finish()
    expect(text()).toBe('')
    clock.nowMs = 5_000
    progress.at(50, '50 records')
    clock.nowMs = 6_000
    progress.at(60, '60 records')
    progress.clear()
    expect(text()).toBe('work: 50 records (50%)\n')
    progress.finish()
    expect(text()).toBe('work: 50 records (50%)\nwork: 60 records (60%)\n')
  })
})
