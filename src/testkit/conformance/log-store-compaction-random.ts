import { Prng } from '../../base/prng.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { check, checkEqual } from './kit.ts'
import { compact, keyedBatch, keyedRecords, type KeyedRecord } from './log-store-compaction.ts'
import { append, newLog, reopened, type LogStoreSubject } from './log-store-subject.ts'

interface Appended extends KeyedRecord {
  readonly offset: number
  /** When it was seen to be overtaken or to be a tombstone, at the earliest. */
  readonly atMs: number
}

/**
 * Appends, compacts, restarts by chance, and after each step holds what a reader finds against all that was ever appended: nothing that was not; the
 * last record of each key unless it is a tombstone whose time has passed; no key that was deleted comes back.
 */
export async function randomCompaction(subject: LogStoreSubject, seed: number): Promise<void> {
  const prng = new Prng(seed)
  const deleteRetentionMs = prng.between(0, 30) * 60_000
  const settings: Partial<TopicSettings> = {
    compact: true, delete: false, segmentBytes: prng.between(200, 2000), minCleanableDirtyRatio: 0, deleteRetentionMs, indexIntervalBytes: prng.below(2) === 0 ? 1 : 500,
  }
  let log = newLog(subject, settings)
  const keys = prng.between(1, 12)
  const all: Appended[] = []
  for (let step = 0; step < 40; step++) {
    const dice = prng.below(20)
    if (dice < 12) {
      const records = Array.from({ length: prng.between(1, 5) }, (): KeyedRecord => ({ key: `key ${prng.below(keys)}`, value: prng.below(4) === 0 ? null : `value ${prng.below(1e6)}`, timestamp: 1000 + prng.below(500) }))
      const { baseOffset } = append(log, keyedBatch(records))
      records.forEach((record, index) => all.push({ ...record, offset: baseOffset + index, atMs: subject.nowMs() }))
    } else if (dice < 17) {
      await compact(subject)
    } else if (dice === 17) {
      subject.advance(prng.below(40) * 60_000)
    } else {
      const end = (['restart', 'kill', 'powerCut'] as const)[prng.below(3)]!
      if (subject[end] !== undefined) {
        await subject.settle(subject.store.flush())
        await subject[end]()
        log = reopened(subject, log, settings)
      }
    }
    if (dice >= 12 || step === 39) await compare(subject, log, all, deleteRetentionMs, `seed ${seed}, step ${step}`)
  }
}

async function compare(subject: LogStoreSubject, log: PartitionLog, all: readonly Appended[], deleteRetentionMs: number, where: string): Promise<void> {
  const found = await keyedRecords(subject, log, 0)
  const byOffset = new Map(all.map(record => [record.offset, record]))
  let before = -1
  for (const { offset, key, value, timestamp } of found) {
    check(offset > before, `${where}: offsets ascend`)
    before = offset
    const sent = byOffset.get(offset)
    checkEqual([key, value, timestamp], [sent?.key, sent?.value, sent?.timestamp], `${where}: the record at ${offset}`)
  }
  const last = new Map(all.map(record => [record.key, record]))
  const offsets = new Set(found.map(({ offset }) => offset))
  for (const { key, value, offset, atMs } of last.values()) {
    if (value !== null || subject.nowMs() < atMs + deleteRetentionMs) check(offsets.has(offset), `${where}: the last record of ${key}, at ${offset}, is there`)
    // A tombstone goes last: a reader of all that is left comes to the same as one of all that there was.
    else if (!offsets.has(offset)) check(!found.some(each => each.key === key), `${where}: ${key}, deleted at ${offset}, has not come back`)
  }
}
