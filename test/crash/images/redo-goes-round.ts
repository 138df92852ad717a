import { randomUuid } from '../../../src/base/uuid.ts'
import { type SegmentedLogStore } from '../../../src/plugins/storage-local/segmented-log-store.ts'
import { append, makeBatch } from '../../../src/testkit/conformance/log-store-subject.ts'
import { topicSettings } from '../../../src/testkit/topic-settings.ts'
import { type ManualTimers } from '../../../src/testkit/world/manual-clock.ts'
import { type StageOptions } from './store-stage.ts'

const filesOfRedoLog = 4
const roundsMax = 60

const turns = async (count: number): Promise<void> => { for (let turn = 0; turn < count; turn++) await Promise.resolve() }

/**
 * Whatever was done to a store, and however idle its logs are: what others append makes the files of the redo log free again, each of them. Throws where one is kept for ever, as
 * then all that is appended has to be synced in its segments in the end; and where a data directory is out of service, though its disk did not fail. On one that may have (`isTroubled`)
 * nothing is to be seen of it then.
 */
export async function redoGoesRound(store: SegmentedLogStore, timers: ManualTimers, { isTroubled = false }: Pick<StageOptions, 'isTroubled'> = {}): Promise<void> {
  if (isTroubled && outOfService(store).length > 0) return
  expectService(store)
  const before = new Map(store.redoFigures().map(({ path, reclaimed }) => [path, reclaimed]))
  const freed = (path: string, reclaimed: number): number => reclaimed - before.get(path)!
  const held = (): string[] => store.redoFigures().filter(({ path, reclaimed }) => freed(path, reclaimed) < filesOfRedoLog).map(({ path, reclaimed }) => `${path}, of which ${freed(path, reclaimed)} were freed`)
  if (before.size === 0) return
  // A disk that was full is looked at once a second; until then appends are refused.
  if (isTroubled) timers.advance(1100)
  const logs = busyLogs(store)
  for (let round = 0; round < roundsMax && held().length > 0; round++) {
    for (const log of logs) append(log, makeBatch([{ timestamp: timers.clock.wallMs(), value: 'x'.repeat(60_000) }]), Math.max(0, log.lastEpoch))
    await turns(60)
    timers.advance(1100)
    await turns(40)
  }
  expectService(store)
  const left = held()
  if (left.length > 0) throw new Error(`files of the redo log do not become free again, though ${roundsMax} batches of 60,000 bytes were appended: those of ${left.join(', and of ')}`)
}

const outOfService = (store: SegmentedLogStore): string[] => store.directories().flatMap(({ path, offline }) => offline === undefined ? [] : [`${path}, for ${offline}`])

function expectService(store: SegmentedLogStore): void {
  const out = outOfService(store)
  if (out.length > 0) throw new Error(`out of service, on a disk that did not fail: ${out.join('; ')}`)
}

/** New logs, until there is one in each data directory. */
function busyLogs(store: SegmentedLogStore): ReturnType<SegmentedLogStore['create']>[] {
  const before = store.directories().map(({ partitions }) => partitions)
  const logs: ReturnType<SegmentedLogStore['create']>[] = []
  while (store.directories().some(({ partitions }, index) => partitions === before[index])) {
    const number = logs.length
    logs.push(store.create({ topic: `busy${number}`, topicId: randomUuid(() => 0xb0000000 + number), partition: 0 }, topicSettings()))
  }
  return logs
}
