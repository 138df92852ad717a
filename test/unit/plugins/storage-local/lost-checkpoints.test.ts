import { describe, expect, it } from 'vitest'
import { append, makeBatch, newTopicId } from '../../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../../src/testkit/topic-settings.ts'
import { ManualTimers } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { settled } from '../../../../src/testkit/world/settled.ts'
import { bytesOf, codeOf, makeStore } from './store-subjects.ts'

const settings = topicSettings({})
const [ordersId, otherId] = [newTopicId(), newTopicId()]
const orders = { topic: 'orders', partition: 0, topicId: ordersId }
const other = { topic: 'other', partition: 0, topicId: otherId }
const startsPath = '/data/log-start-offset-checkpoint'
const idsPath = '/data/.millrace-topic-ids'

async function started(files: MemoryFileSystem, timers = new ManualTimers()) {
  const made = makeStore({ files, timers, config: { reserveBytes: 0 } })
  await made.store.start()
  return { ...made, timers, errors: made.logger.lines.filter(({ level }) => level === 'error') }
}

/** Two logs of ten records, of which one had five deleted. */
async function left(ended: 'stopped' | 'killed'): Promise<MemoryFileSystem> {
  const files = new MemoryFileSystem()
  const { store, timers } = await started(files)
  for (const id of [orders, other]) {
    const log = store.create(id, settings)
    for (let count = 0; count < 10; count++) append(log, makeBatch(1), 0)
    await store.flush()
    log.raiseHighWatermark(10)
  }
  store.find(ordersId, 0)!.deleteTo(5)
  for (const ms of [6000, 61_000]) {
    timers.advance(ms)
    await settled()
  }
  if (ended === 'stopped') await store.stop()
  return files.afterCrash({ keepUnsynced: 'all', systemDown: false })
}

describe.each(['stopped', 'killed'] as const)('after the broker was %s', ended => {
  it('log starts that are lost are an error and a degraded health that name the partitions, until their starts are raised', async () => {
    const files = await left(ended)
    files.damage.remove(startsPath)
    const { store, errors } = await started(files)
    expect(errors).toMatchObject([{ message: expect.stringContaining('records that were deleted may be served again') as string, fields: { path: startsPath, partitions: ['orders-0', 'other-0'] } }])
    expect(store.check()).toMatchObject({ state: 'degraded', detail: expect.stringMatching(/orders-0, other-0 may be served again/) as string })
    store.find(ordersId, 0)!.deleteTo(5)
    expect(store.check().detail).toMatch(/^where 1 log begins was lost.*other-0/)
    store.find(otherId, 0)!.deleteTo(1)
    expect(store.check()).toEqual({ state: 'ok', detail: '' })
  })

  it.each(['gone', 'damaged'])('a partition that an offset checkpoint names is not begun anew where its directory is gone, and the ids of topics are %s, at this start and at later ones', async what => {
    const files = await left(ended)
    files.remove('/data/orders-0')
    if (what === 'gone') files.damage.remove(idsPath)
    else files.flipBit(idsPath, new TextDecoder().decode(bytesOf(files, idsPath)).indexOf(ordersId), 7)
    let next = files
    for (const attempt of [1, 2]) {
      const { store } = await started(next)
      expect(codeOf(() => store.create(orders, settings)), `start ${attempt}`).toBe('MR_LOG_MISSING')
      expect(codeOf(() => store.create({ ...orders, topic: `new-${attempt}`, topicId: newTopicId() }, settings))).toBe('ok')
      expect(store.find(otherId, 0)!.endOffset).toBe(10)
      next = next.afterCrash({ keepUnsynced: 'all', systemDown: false })
    }
    // As the error says: the line is taken out.
    const text = new TextDecoder().decode(bytesOf(next, idsPath)).split('\n').filter(line => !line.startsWith('orders-0')).join('\n')
    const file = next.open(idsPath, 'ensure')
    file.truncate(0)
    file.write([new TextEncoder().encode(text)], 0)
    file.close()
    const { store } = await started(next)
    expect(codeOf(() => store.create(orders, settings))).toBe('ok')
  })
})

it('any bit of the checkpoint of log starts may be wrong: where logs begin is what it was, or the error says that it is not known', async () => {
  const pristine = await left('killed')
  const { length } = bytesOf(pristine, startsPath)
  let told = 0
  for (let bit = 0; bit < length * 8; bit++) {
    const files = pristine.afterCrash({ keepUnsynced: 'all', systemDown: false })
    files.flipBit(startsPath, bit >> 3, bit & 7)
    const { store, errors } = await started(files)
    if (errors.length > 0) told++
    else expect([store.find(ordersId, 0)!.startOffset, store.find(otherId, 0)!.startOffset], `bit ${bit}`).toEqual([5, 0])
  }
  expect(told).toBeGreaterThan(length * 7)
})

it('ids of topics that were never here are not missed: a directory that others have made begins with what is in it', async () => {
  const files = await left('stopped')
  files.remove('/data/orders-0')
  files.damage.remove(idsPath)
  const file = files.open(startsPath, 'ensure')
  file.truncate(0)
  file.write([new TextEncoder().encode('0\n0\n')], 0)
  file.close()
  const { store, errors } = await started(files)
  expect(errors).toEqual([])
  expect(codeOf(() => store.create(orders, settings))).toBe('ok')
})
