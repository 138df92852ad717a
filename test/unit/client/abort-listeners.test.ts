import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { onAbort } from '../../../src/client/abort-listeners.ts'
import { call } from '../../../src/client/channel/call.ts'
import { type Channel } from '../../../src/client/channel/channel.ts'
import { pause } from '../../../src/client/pause.ts'
import { ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { metadataApi } from '../../../src/wire/index.ts'

/** A signal that counts the listeners it has. */
function countedSignal(): { readonly signal: AbortSignal, readonly abort: () => void, readonly listeners: () => number } {
  const controller = new AbortController()
  const { signal } = controller
  return { signal, abort: () => { controller.abort(new Error('enough')) }, listeners: () => getEventListeners(signal, 'abort').length }
}

describe('a signal that many wait on', () => {
  it('has one listener, which calls each once, but those that have stopped waiting', () => {
    const { signal, abort, listeners } = countedSignal()
    const called: number[] = []
    const stops = Array.from({ length: 50 }, (_, index) => onAbort(signal, () => { called.push(index) }))
    for (const stop of stops.slice(3)) stop()
    expect(listeners()).toBe(1)
    abort()
    abort()
    expect(called).toEqual([0, 1, 2])
  })

  it('has none when all have stopped, and takes others afterwards', () => {
    const { signal, abort, listeners } = countedSignal()
    const stop = onAbort(signal, () => { throw new Error('it was stopped') })
    stop()
    expect(listeners()).toBe(0)
    let called = 0
    onAbort(signal, () => { called++ })
    // Stopping twice takes nothing from the others.
    stop()
    expect(listeners()).toBe(1)
    abort()
    expect(called).toBe(1)
  })

  it('does not call who is stopped by one that is called before', () => {
    const { signal, abort } = countedSignal()
    let stopSecond = (): void => undefined
    let called = 0
    onAbort(signal, () => { stopSecond() })
    stopSecond = onAbort(signal, () => { called++ })
    abort()
    expect(called).toBe(0)
  })

  it('may be shared by any number of requests and pauses: it has one listener, all reject with its reason, and none is left', async () => {
    const { signal, abort, listeners } = countedSignal()
    const silent = { open: () => undefined } as unknown as Channel
    const timers = new ManualTimers()
    const waiting = Array.from({ length: 30 }, (_, index) => index % 2 === 0
      ? call(silent, metadataApi, () => ({ topics: null }), { timeoutMs: 1000, signal }) : pause(timers, 1000, signal))
    expect(listeners()).toBe(1)
    abort()
    expect(await Promise.allSettled(waiting)).toEqual(waiting.map(() => ({ status: 'rejected', reason: expect.objectContaining({ message: 'enough' }) })))
    expect(listeners()).toBe(0)
    const late = pause(timers, 1000, new AbortController().signal)
    timers.advance(1000)
    await late
  })
})
