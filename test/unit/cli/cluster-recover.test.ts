import { expect, it } from 'vitest'
import { notesOf } from '../../../src/cli/commands/cluster-recover.ts'

const topic = (name: string) => ({ name, topicId: 'x', partitions: 1, from: 'directories' as const, absent: [], isEmpty: false })

it('of a recovered topic it is said that its settings are lost, and of an internal one that it has its own', () => {
  expect(notesOf(topic('orders'))).toBe('settings lost: it keeps everything')
  expect(notesOf(topic('__consumer_offsets'))).toBe('internal: it has its own settings again')
  expect(notesOf({ ...topic('__consumer_offsets'), isEmpty: true })).toBe('internal: it has its own settings again; no records')
})
