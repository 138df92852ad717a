import { describe, expect, it } from 'vitest'
import { type Checker, contentWithKey, History, type HistoryEvent, type SeenBatch, type SeenRecord, Violation } from '../history.ts'
import { AcknowledgedIsDurable } from './acknowledged-is-durable.ts'
import { DeletedStaysDeleted } from './deleted-stays-deleted.ts'
import { LookupsEqualAScan } from './lookups-equal-a-scan.ts'
import { NothingAboveTheWatermark } from './nothing-above-the-watermark.ts'
import { OffsetsAreGivenOnce } from './offsets-are-given-once.ts'
import { ReadIsDurable } from './read-is-durable.ts'
import { ReadsRepeat } from './reads-repeat.ts'
import { RecoveryIsIdempotent } from './recovery-is-idempotent.ts'
import { RetriesFindTheOriginal } from './retries-find-the-original.ts'
import { SequencesAreWhole } from './sequences-are-whole.ts'
import { WatermarksNeverFall } from './watermarks-never-fall.ts'

const partition = 'orders/id/0/0'
type Scan = HistoryEvent & { kind: 'scanned' }

const record = (offset: number, content = `r${offset}`, timestamp = 1000 + offset): SeenRecord => ({ offset, timestamp, content })
const records = (from: number, end: number): SeenRecord[] => Array.from({ length: end - from }, (_, index) => record(from + index))
const batch = (baseOffset: number, baseSequence = -1, changed: Partial<SeenBatch> = {}): SeenBatch =>
  ({ baseOffset, lastOffset: baseOffset, producerId: baseSequence < 0 ? -1 : 7, producerEpoch: 0, baseSequence, recordsCount: 1, ...changed })

const created: HistoryEvent = { kind: 'created', partition, trimmed: false }
const compacted: HistoryEvent = { ...created, compacted: true }
const keyed = (offset: number, key: string): SeenRecord => record(offset, contentWithKey(`r${offset}`, key))
const deleting = (offset: number): HistoryEvent => ({ kind: 'deleting', partition, offset })
const recordsDeleted = (lowWatermark: number): HistoryEvent => ({ kind: 'records deleted', partition, lowWatermark })
const power: HistoryEvent = { kind: 'ended', how: 'power' }
const kill: HistoryEvent = { kind: 'ended', how: 'kill' }

const appended = (baseOffset: number, changed: Partial<HistoryEvent & { kind: 'appended' }> = {}): HistoryEvent =>
  ({ kind: 'appended', partition, acks: 'all', baseOffset, contents: [`r${baseOffset}`], begun: 100, ...changed })
const sent = (baseOffset: number, sequence: number, changed: Partial<HistoryEvent & { kind: 'appended' }> = {}): HistoryEvent =>
  appended(baseOffset, { producer: { id: 7, epoch: 0, sequence }, ...changed })
const read = (...seen: SeenRecord[]): HistoryEvent => ({ kind: 'read', partition, records: seen })
const fetched = (changed: Partial<HistoryEvent & { kind: 'fetched' }>): HistoryEvent => ({
  kind: 'fetched', partition, begun: 100, isolation: 'read_uncommitted', highWatermark: 10, lastStableOffset: 10, logStartOffset: 0, records: [], ...changed,
})
const scanned = (end: number, changed: Partial<Scan> = {}): Scan => ({
  kind: 'scanned', partition, startOffset: 0, highWatermark: end, records: records(0, end), batches: records(0, end).map(({ offset }) => batch(offset)), lookups: [], ...changed,
})
const edge = (end: (HistoryEvent & { kind: 'edge' })['end'], offset: number, begun = 100): HistoryEvent => ({ kind: 'edge', partition, begun, end, offset })
const files = (content: Record<string, number[]>): Map<string, Uint8Array> => new Map(Object.entries(content).map(([path, bytes]) => [path, Uint8Array.from(bytes)]))

interface Cases {
  readonly checker: () => Checker
  /** Histories that it must pass. */
  readonly good: Readonly<Record<string, readonly HistoryEvent[]>>
  /** Histories of which the last event shows the violation. */
  readonly bad: Readonly<Record<string, readonly HistoryEvent[]>>
}

const cases: readonly Cases[] = [
  {
    checker: () => new DeletedStaysDeleted(),
    good: {
      'records stay deleted': [created, appended(0), deleting(1), recordsDeleted(1), power, scanned(2, { startOffset: 1, records: records(1, 2) })],
      'a deletion that was not answered may have done nothing': [created, appended(0), deleting(1), power, scanned(1)],
      'its topic was made again': [created, recordsDeleted(3), { kind: 'deleted', partition }, created, scanned(0)],
    },
    bad: {
      'they come back with a power cut': [created, appended(0), deleting(1), recordsDeleted(1), power, scanned(1)],
    },
  },
  {
    checker: () => new ReadIsDurable(),
    good: {
      'what was read is there': [created, read(record(0)), fetched({ records: [record(1)] }), power, scanned(2)],
      'retention took it': [{ ...created, trimmed: true } as HistoryEvent, read(record(0)), scanned(3, { startOffset: 1, records: records(1, 3) })],
      'its topic was deleted': [created, read(record(0)), { kind: 'deleted', partition }, created, scanned(0)],
      'a later record of its key has overtaken it': [compacted, read(keyed(0, 'a')), scanned(2, { records: [keyed(1, 'a')] })],
    },
    bad: {
      'the last record of its key is gone': [compacted, read(keyed(1, 'a')), scanned(2, { records: [keyed(0, 'a')] })],
      'it is gone, and only another key has a later record': [compacted, read(keyed(0, 'a')), scanned(2, { records: [keyed(1, 'b')] })],
      'a later record of its key has overtaken it where nothing is compacted': [created, read(keyed(0, 'a')), scanned(2, { records: [keyed(1, 'a')] })],
      'compaction has made another record of it': [compacted, read(keyed(0, 'a')), scanned(2, { records: [record(0, contentWithKey('other', 'a')), keyed(1, 'a')] })],
      'what a consumer was given is gone after a power cut': [created, read(record(0)), power, scanned(0)],
      'what a fetch gave is gone': [created, fetched({ records: [record(0), record(1)] }), scanned(1)],
      'another record stands in its place': [created, read(record(0)), scanned(1, { records: [record(0, 'other')] })],
    },
  },
  {
    checker: () => new AcknowledgedIsDurable(),
    good: {
      'an acknowledged record is there': [created, appended(0), appended(1), power, read(record(0)), scanned(2)],
      'retention took it': [{ ...created, trimmed: true } as HistoryEvent, appended(0), scanned(3, { startOffset: 1, records: records(1, 3) })],
      'acks=1 and a power cut': [created, appended(0, { acks: 1 }), power, scanned(0)],
      'it was to be deleted': [created, appended(0), appended(1), deleting(2), scanned(3, { startOffset: 2, records: records(2, 3) })],
      'a later record of its key has overtaken it': [compacted, appended(0, { contents: [contentWithKey('r0', 'a')] }), scanned(2, { records: [keyed(1, 'a')] })],
      'its topic was deleted': [created, appended(0), { kind: 'deleted', partition }, created, scanned(0)],
    },
    bad: {
      'more is gone than was to be deleted': [created, appended(0), deleting(1), scanned(3, { startOffset: 2, records: records(2, 3) })],
      'the last record of its key is gone after a compaction': [compacted, appended(1, { contents: [contentWithKey('r1', 'a')] }), scanned(2, { records: [keyed(0, 'a')] })],
      'an acknowledged record is gone': [created, appended(0), appended(1), power, scanned(1)],
      'another record stands in its place': [created, appended(0), scanned(1, { records: [record(0, 'other')] })],
      'a client reads another record in its place': [created, appended(4), read(record(4, 'other'))],
      'the log lost its beginning without retention': [created, appended(0), scanned(2, { startOffset: 1, records: records(1, 2) })],
    },
  },
  {
    checker: () => new WatermarksNeverFall(),
    good: {
      'they rise': [created, edge('high watermark', 3), edge('high watermark', 3), fetched({ highWatermark: 9 }), scanned(10)],
      'answers to calls that overlap come in any order': [created, edge('high watermark', 5, 0), edge('high watermark', 3, 0)],
      'versions without a log start say -1': [created, edge('start', 3), fetched({ logStartOffset: -1 })],
    },
    bad: {
      'the high watermark falls': [created, fetched({ highWatermark: 9 }), fetched({ highWatermark: 8 })],
      'the last stable offset falls': [created, fetched({ lastStableOffset: 9 }), fetched({ lastStableOffset: 8 })],
      'the log start falls': [created, edge('start', 5), fetched({ logStartOffset: 4 })],
      'a restart shows less than before': [created, edge('high watermark', 5), kill, scanned(4)],
      'the watermark is below what was acknowledged before': [created, appended(6), edge('high watermark', 6)],
    },
  },
  {
    checker: () => new ReadsRepeat(),
    good: {
      'the same record again': [created, read(record(1)), power, fetched({ records: [record(1)] }), scanned(2)],
      'another topic of the name': [created, read(record(1)), { kind: 'deleted', partition }, created, read(record(1, 'other'))],
    },
    bad: {
      'another record': [created, read(record(1)), kill, read(record(1, 'other'))],
      'the same record with another timestamp': [created, read(record(1)), scanned(2, { records: [record(0), record(1, 'r1', 5)] })],
    },
  },
  {
    checker: () => new NothingAboveTheWatermark(),
    good: { 'up to the watermark': [fetched({ records: records(7, 10) })] },
    bad: {
      'a record at the watermark': [fetched({ records: records(7, 11) })],
      'a record at the last stable offset': [fetched({ isolation: 'read_committed', lastStableOffset: 8, records: records(7, 9) })],
      'a last stable offset above the high watermark': [fetched({ lastStableOffset: 11 })],
    },
  },
  {
    checker: () => new OffsetsAreGivenOnce(),
    good: {
      'compaction leaves gaps': [compacted, read(record(0), record(2)), scanned(4, { records: [record(1), record(3)], batches: [batch(1), batch(3)] })],
      'records are deleted while they are read': [created, deleting(5), read(record(1), record(5))],
      'one after the other': [created, appended(0), appended(1), appended(1), scanned(2)],
      'acks=1 and a power cut': [created, appended(0, { acks: 1 }), power, appended(0, { contents: ['other'] })],
      'an answer to acks=1 heard after the power cut that it was under way at': [created, power, appended(0, { acks: 1, begun: 1 }), appended(0, { contents: ['other'] })],
    },
    bad: {
      'compaction turns the order around': [compacted, read(record(2), record(0))],
      'a gap behind what was to be deleted': [created, deleting(5), read(record(5), record(7))],
      'one offset given to two': [created, appended(0, { contents: ['a', 'b'] }), appended(1, { contents: ['c'] })],
      'acks=1 and a kill': [created, appended(0, { acks: 1 }), kill, appended(0, { contents: ['other'] })],
      'acks=all and a power cut': [created, appended(0), power, appended(0, { contents: ['other'] })],
      'acks=1 after a power cut': [created, power, appended(0, { acks: 1, begun: 2 }), appended(0, { contents: ['other'] })],
      'a gap in what is read': [created, read(record(3), record(5))],
      'an offset twice': [created, read(record(3), record(3))],
      'less than the log says it holds': [created, scanned(3, { highWatermark: 4 })],
      'a batch behind a gap': [created, scanned(3, { batches: [batch(0), batch(2)] })],
    },
  },
  {
    checker: () => new SequencesAreWhole(),
    good: {
      'consecutive, and wrapped': [scanned(3, { batches: [batch(0, 0x7fff_ffff, { recordsCount: 2 }), batch(1), batch(2, 1)] })],
      'sent twice without idempotence': [scanned(2, { records: [record(0, 'many-1'), record(1, 'many-1')] })],
    },
    bad: {
      'a gap': [scanned(2, { batches: [batch(0, 0), batch(1, 2)] })],
      'the same again': [scanned(2, { batches: [batch(0, 0), batch(1, 0)] })],
      'what was to be stored once, stored twice': [scanned(2, { records: [record(0, 'once-1'), record(1, 'once-1')] })],
    },
  },
  {
    checker: () => new RetriesFindTheOriginal(),
    good: {
      'the first offset again': [created, sent(5, 0), kill, sent(5, 0), sent(-1, 0)],
      'acks=1 and a power cut': [created, sent(5, 0, { acks: 1 }), power, sent(3, 0)],
      'another sequence': [created, sent(5, 0), sent(6, 1)],
    },
    bad: {
      'another offset': [created, sent(5, 0), kill, sent(6, 0)],
      'acks=all and a power cut': [created, sent(5, 0), power, sent(3, 0)],
      'two of it in the log': [created, scanned(2, { batches: [batch(0, 3), batch(1, 3)] })],
    },
  },
  {
    checker: () => new LookupsEqualAScan(),
    good: {
      'what a scan finds': [created, scanned(3, { lookups: [
        { wanted: 1001, offset: 1, timestamp: 1001 }, { wanted: 'max', offset: 2, timestamp: 1002 }, { wanted: 2000, offset: -1, timestamp: -1 },
      ] })],
      'the first of the newest': [created, scanned(2, { records: [record(0, 'a', 9), record(1, 'b', 9)], lookups: [{ wanted: 'max', offset: 0, timestamp: 9 }] })],
    },
    bad: {
      'a later record': [created, scanned(3, { lookups: [{ wanted: 1001, offset: 2, timestamp: 1002 }] })],
      'nothing, where there is one': [created, scanned(3, { lookups: [{ wanted: 1001, offset: -1, timestamp: -1 }] })],
      'the last of the newest': [created, scanned(2, { records: [record(0, 'a', 9), record(1, 'b', 9)], lookups: [{ wanted: 'max', offset: 1, timestamp: 9 }] })],
      'one that is too old': [created, { kind: 'located', partition, wanted: 50, offset: 3, timestamp: 49 }],
      'one of another timestamp': [created, { kind: 'located', partition, wanted: 50, offset: 1, timestamp: 60 }, scanned(2)],
    },
  },
  {
    checker: () => new RecoveryIsIdempotent(),
    good: {
      'more than was synced, and twice the same': [{ kind: 'recovered', synced: files({ 'a.log': [1] }), first: files({ 'a.log': [1, 2] }), second: files({ 'a.log': [1, 2] }) }],
      'an index made anew': [{ kind: 'recovered', synced: files({ 'a.index': [1] }), first: files({ 'a.index': [2] }), second: files({ 'a.index': [2] }) }],
    },
    bad: {
      'the second changes something': [{ kind: 'recovered', synced: files({}), first: files({ 'a.index': [1, 2] }), second: files({ 'a.index': [1] }) }],
      'the second removes something': [{ kind: 'recovered', synced: files({}), first: files({ 'a.index': [1] }), second: files({}) }],
      'the second makes something': [{ kind: 'recovered', synced: files({}), first: files({}), second: files({ 'a.index': [] }) }],
      'a synced byte is gone': [{ kind: 'recovered', synced: files({ 'a.log': [1, 2] }), first: files({ 'a.log': [1] }), second: files({ 'a.log': [1] }) }],
      'a synced file is gone': [{ kind: 'recovered', synced: files({ 'a.log': [1] }), first: files({}), second: files({}) }],
      'a synced byte is another': [{ kind: 'recovered', synced: files({ 'a.log': [1] }), first: files({ 'a.log': [2] }), second: files({ 'a.log': [2] }) }],
    },
  },
]

describe.each(cases.map(each => ({ claim: each.checker().claim, ...each })))('$claim', ({ checker, good, bad }) => {
  it.each(Object.keys(good))('passes: %s', name => {
    const history = new History([checker()])
    for (const event of good[name]!) history.add(event)
  })

  it.each(Object.keys(bad))('flags: %s', name => {
    const history = new History([checker()])
    const events = bad[name]!
    for (const event of events.slice(0, -1)) history.add(event)
    expect(() => { history.add(events.at(-1)!) }).toThrow(Violation)
  })
})
