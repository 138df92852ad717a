import { topicSettings } from '../topic-settings.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { check, checkCode, checkEqual, checkRejects, checkThrows } from './kit.ts'
import {
  append, fill, logStoreClaim as claim, makeBatch, newLog, newTopicId, readBytes, readRecords, type LogStoreClaim, type LogStoreSubject,
} from './log-store-subject.ts'

/** Making, finding and removing logs; what a log does that is gone. */
export const lifecycleClaims: readonly LogStoreClaim[] = [
  claim('logs are found by topic id and partition, and listed', async subject => {
    const topicId = newTopicId()
    const made = [0, 1, 2].map(partition => subject.store.create({ topic: 'parts', topicId, partition }, topicSettings()))
    const other = newLog(subject)
    made.forEach((log, partition) => check(subject.store.find(topicId, partition) === log, `partition ${partition} is found`))
    checkEqual(subject.store.find(topicId, 3), undefined, 'a partition that was not made')
    checkEqual(subject.store.find(newTopicId(), 0), undefined, 'a topic that was not made')
    checkEqual([...subject.store.logs()].length, 4, 'logs listed')
    check([...subject.store.logs()].includes(other), 'each log is listed')
    checkEqual(made.map(log => log.id.partition), [0, 1, 2], 'ids')
  }),
  claim('making a log that is there gives the one that is there', async subject => {
    const log = newLog(subject)
    fill(log, 3)
    check(subject.store.create(log.id, topicSettings()) === log, 'it is the same log')
    checkEqual(log.endOffset, 3, 'log end')
  }),
  claim('a removed log is gone, and a topic made again under its name is empty', async subject => {
    const log = newLog(subject, {}, 'again')
    fill(log, 3)
    log.raiseHighWatermark(3)
    log.deleteTo(2)
    subject.store.remove(log.id.topicId, 0)
    checkEqual(subject.store.find(log.id.topicId, 0), undefined, 'the removed log')
    checkEqual([...subject.store.logs()].length, 0, 'logs listed')
    const again = newLog(subject, {}, 'again')
    checkEqual([again.startOffset, again.endOffset, again.highWatermark], [0, 0, 0], 'state of the new log')
    fill(again, 1)
    checkEqual((await readRecords(subject, again)).length, 1, 'records of the new log')
  }),
  claim('removing a log whose appends are being synced harms nobody', async subject => {
    const other = newLog(subject)
    for (let round = 0; round < 20; round++) {
      const log = newLog(subject, { segmentBytes: 200 }, 'busy')
      fill(log, round)
      subject.store.remove(log.id.topicId, 0)
      fill(other, 1)
    }
    await subject.settle(subject.store.flush())
    checkEqual(subject.store.directories().filter(directory => directory.offline !== undefined).length, 0, 'directories that are offline')
    checkEqual((await readRecords(subject, other)).length, 20, 'records of another log')
  }),
  claim('a log that is set aside is out of service', async subject => {
    const log = newLog(subject)
    fill(log, 3)
    subject.store.setAside(log.id.topicId, 0)
    checkEqual(subject.store.find(log.id.topicId, 0), undefined, 'the log')
    await checkClosed(subject, log)
  }),
  claim('removing what is not there is fine', async subject => {
    subject.store.remove(newTopicId(), 0)
    subject.store.setAside(newTopicId(), 7)
  }),
  claim('every call on a removed log fails with MR_LOG_CLOSED, and its watcher is told once', async subject => {
    const log = newLog(subject)
    fill(log, 5)
    const told: unknown[] = []
    log.watcher = { flushed: () => {}, failed: error => told.push(error) }
    subject.store.remove(log.id.topicId, 0)
    await checkClosed(subject, log)
    checkEqual(told.length, 1, 'calls of the watcher')
    checkCode('MR_LOG_CLOSED', told[0], 'what the watcher is told')
  }),
  claim('a read under way when its log is removed ends once', async subject => {
    const log = newLog(subject, { segmentBytes: 200 })
    fill(log, 30)
    let ends = 0
    const end = new Promise<void>(resolve => {
      const count = (): void => {
        ends++
        resolve()
      }
      log.read({ offset: 0, endOffset: 30, maxBytes: 100, atLeastOneBatch: true }, {
        read: (_bytes, release) => {
          release()
          count()
        },
        failed: count,
      })
    })
    subject.store.remove(log.id.topicId, 0)
    await subject.settle(end)
    checkEqual(ends, 1, 'ends')
  }),
  claim('after a stop every log fails with MR_LOG_CLOSED, and a second stop is fine', async subject => {
    const log = newLog(subject)
    fill(log, 5)
    await subject.settle(subject.stop())
    await checkClosed(subject, log)
    await subject.settle(subject.stop())
  }),
  claim('directories tell how many logs and bytes they hold', async subject => {
    const log = newLog(subject)
    fill(log, 100)
    const directories = subject.store.directories()
    check(directories.length >= 1, 'there is one at least')
    checkEqual(directories.reduce((sum, directory) => sum + directory.partitions, 0), 1, 'partitions')
    check(directories.reduce((sum, directory) => sum + directory.usedBytes, 0) >= log.sizeBytes, 'the bytes of the log are counted')
    checkEqual(new Set(directories.map(directory => directory.id)).size, directories.length, 'ids of its own for each')
    checkEqual(directories.filter(directory => directory.offline !== undefined).length, 0, 'directories that are offline')
  }),
  claim('directories tell their logs, each in one of them, and what their disks have', async subject => {
    const logs = [newLog(subject), newLog(subject, {}, 'other')]
    fill(logs[0]!, 10)
    const told = (): string[] => subject.store.directories().flatMap(directory => Array.from(directory.logs(), log => log.id.topicId)).sort()
    checkEqual(told(), logs.map(log => log.id.topicId).sort(), 'logs')
    for (const { space } of subject.store.directories()) {
      const figures = space?.()
      check(figures === undefined || (figures.freeBytes >= 0 && figures.totalBytes >= figures.freeBytes), 'no more is free than there is')
    }
    subject.store.remove(logs[0]!.id.topicId, 0)
    checkEqual(told(), [logs[1]!.id.topicId], 'one that was removed is in none')
  }),
  claim('flush resolves when everything that was appended is flushed', async subject => {
    const logs = [newLog(subject, { durability: 'fsync' }), newLog(subject, { durability: 'os' }), newLog(subject, { segmentBytes: 150 })]
    for (const log of logs) fill(log, 20)
    await subject.settle(subject.store.flush())
    checkEqual(logs.map(log => log.flushedOffset), [20, 20, 20], 'flushed offsets')
  }),
]

async function checkClosed(subject: LogStoreSubject, log: PartitionLog): Promise<void> {
  checkThrows('MR_LOG_CLOSED', () => append(log, makeBatch(1)), 'append')
  await checkRejects('MR_LOG_CLOSED', readBytes(subject, log, { offset: 0 }), 'read')
  checkThrows('MR_LOG_CLOSED', () => log.truncateTo(0), 'truncateTo')
  checkThrows('MR_LOG_CLOSED', () => log.deleteTo(0), 'deleteTo')
  checkThrows('MR_LOG_CLOSED', () => log.locate(0, 1), 'locate')
  checkThrows('MR_LOG_CLOSED', () => log.epochEnd(0), 'epochEnd')
  checkThrows('MR_LOG_CLOSED', () => log.configure(topicSettings()), 'configure')
  checkThrows('MR_LOG_CLOSED', () => log.raiseHighWatermark(1), 'raiseHighWatermark')
}
