import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { type FileSystem } from '../../kernel/ports/file-system.ts'
import { type PartitionLog } from '../../kernel/ports/partition-log.ts'
import { topicSettings } from '../topic-settings.ts'
import { check, checkEqual, checkRejects, checkThrows } from './kit.ts'
import {
  append, fill, layoutClaim as claim, makeBatch, newLog, newTopicId, readBytes, readRecords, reopened, type FoundRecord, type LogStoreClaim,
  type LogStoreSubject,
} from './log-store-subject.ts'

const settings: Partial<TopicSettings> = { segmentBytes: 1500, indexIntervalBytes: 200, retentionMs: -1 }

const removeFile = (files: FileSystem, path: string): void => files.remove(path)
const garble = (files: FileSystem, path: string): void => flip(files, path, size => size >> 1)
const halve = (files: FileSystem, path: string): void => cutTo(files, path, size => size >> 1)
const empty = (files: FileSystem, path: string): void => cutTo(files, path, () => 0)
const stuff = (files: FileSystem, path: string): void => put(files, path, new Uint8Array(240).fill(0x5a))

const onIndexes = (damage: (files: FileSystem, path: string) => void, pattern: RegExp) => (files: FileSystem, path: string): void => {
  if (pattern.test(path)) damage(files, path)
}

const damages: readonly (readonly [string, (files: FileSystem, path: string) => void])[] = [
  ['all index files missing', onIndexes(removeFile, /index$/)],
  ['offset indexes missing', onIndexes(removeFile, /\.index$/)],
  ['time indexes missing', onIndexes(removeFile, /\.timeindex$/)],
  ['garbled offset indexes', onIndexes(garble, /\.index$/)],
  ['garbled time indexes', onIndexes(garble, /\.timeindex$/)],
  ['half of each index file', onIndexes(halve, /index$/)],
  ['empty index files', onIndexes(empty, /index$/)],
  ['index files full of something else', onIndexes(stuff, /index$/)],
]

function directoryOf(subject: LogStoreSubject, log: PartitionLog): string {
  return `${subject.dataDirectory!}/${log.id.topic}-${log.id.partition}`
}

function logFile(subject: LogStoreSubject, log: PartitionLog, baseOffset: number): string {
  return `${directoryOf(subject, log)}/${String(baseOffset).padStart(20, '0')}.log`
}

function logNames(files: FileSystem, directory: string): string[] {
  return files.list(directory).filter(name => name.endsWith('.log'))
}

function get(files: FileSystem, path: string): Uint8Array {
  const file = files.open(path, 'read')
  const bytes = new Uint8Array(file.size())
  file.read(bytes, 0, bytes.length, 0)
  file.close()
  return bytes
}

function put(files: FileSystem, path: string, bytes: Uint8Array): void {
  const file = files.open(path, 'ensure')
  file.truncate(0)
  file.write([bytes], 0)
  file.close()
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length)
  bytes.set(left)
  bytes.set(right, left.length)
  return bytes
}

function cutTo(files: FileSystem, path: string, size: (size: number) => number): void {
  put(files, path, get(files, path).slice(0, size(get(files, path).length)))
}

function flip(files: FileSystem, path: string, position: (size: number) => number): void {
  const bytes = get(files, path)
  if (bytes.length === 0) return
  bytes[position(bytes.length)]! ^= 0x10
  put(files, path, bytes)
}

/** Files that a start finds cut, garbled, missing or unknown. For stores whose files are laid out as Kafka's. */
export const layoutClaims: readonly LogStoreClaim[] = [
  claim('a tail torn at any byte of the last batches is cut to whole batches', async subject => {
    let log = newLog(subject, { ...settings, segmentBytes: 100_000 })
    fill(log, 3)
    const last = [makeBatch([{ timestamp: 1, value: 'the last but one' }]), makeBatch([{ timestamp: 2, value: 'the last' }, { timestamp: 3, value: '' }])]
    const bytes = last[0]!.length + last[1]!.length
    for (let kept = 0; kept < bytes; kept++) {
      for (const batch of last) append(log, batch.slice())
      await subject.kill!(files => cutTo(files, logFile(subject, log, 0), size => size - bytes + kept))
      log = reopened(subject, log, settings)
      const whole = kept >= last[0]!.length ? 1 : 0
      checkEqual(log.endOffset, 3 + whole, `log end with ${kept} of ${bytes} bytes`)
      checkEqual((await readRecords(subject, log)).length, 3 + whole, `records with ${kept} of ${bytes} bytes`)
      log.truncateTo(3)
    }
  }),
  claim('a bit flipped anywhere under the CRC of an unsynced batch cuts the log there', async subject => {
    let log = newLog(subject, { ...settings, durability: 'os', segmentBytes: 100_000 })
    const batch = makeBatch([{ timestamp: 7, value: 'flipped' }])
    fill(log, 2)
    for (let byte = 17; byte < batch.length; byte++) {
      append(log, batch.slice())
      append(log, batch.slice())
      await subject.kill!(files => flip(files, logFile(subject, log, 0), size => size - 2 * batch.length + byte))
      log = reopened(subject, log, { ...settings, durability: 'os' })
      checkEqual(log.endOffset, 2, `log end with byte ${byte} flipped`)
    }
  }),
  ...damages.map(([name, damage]) => claim(`with ${name} every offset and time is found`, async subject => {
    for (const end of ['restart', 'kill'] as const) {
      const log = newLog(subject, settings)
      for (let index = 0; index < 60; index++) append(log, makeBatch([{ timestamp: 1000 + index * 10, value: 'x'.repeat(index % 50) }]))
      await subject.settle(subject.store.flush())
      const before = await readRecords(subject, log)
      await subject[end]!(files => {
        for (const file of files.list(directoryOf(subject, log))) damage(files, `${directoryOf(subject, log)}/${file}`)
      })
      await checkAll(subject, reopened(subject, log, settings), before, `${name}, ${end}`)
    }
  })),
  claim('what had not finished is finished or undone, and what is unknown is left alone', async subject => {
    const log = newLog(subject, settings)
    fill(log, 40)
    const before = await readRecords(subject, log)
    const directory = directoryOf(subject, log)
    const unknown = ['notes.txt', '00000000000000000000.log.bak', 'something.tmp']
    const undone = ['00000000000000000007.log.deleted', '00000000000000000009.log.cleaned', '00000000000000000009.index.cleaned', '00000000000000000999.index']
    await subject.kill!(files => {
      for (const name of [...unknown, ...undone]) put(files, `${directory}/${name}`, new Uint8Array(100))
      put(files, `${subject.dataDirectory!}/unknown-file.tmp`, new Uint8Array(3))
      files.makeDirectory(`${subject.dataDirectory!}/not a partition`)
    })
    const found = reopened(subject, log, settings)
    checkEqual(await readRecords(subject, found), before, 'records')
    await subject.restart!(files => {
      for (const name of unknown) check(files.stat(`${directory}/${name}`) !== undefined, `${name} is still there`)
      for (const name of undone) check(files.stat(`${directory}/${name}`) === undefined, `${name} is gone`)
      check(files.stat(`${subject.dataDirectory!}/not a partition`) !== undefined, 'an unknown directory is still there')
    })
  }),
  claim('a segment that was replaced up to its last rename is put in place', async subject => {
    const log = newLog(subject, settings)
    fill(log, 40)
    const before = await readRecords(subject, log)
    const directory = directoryOf(subject, log)
    await subject.restart!(files => {
      const [first, second] = logNames(files, directory)
      // As a replacement leaves it that died before the old segments were removed: one new segment for the first two old ones.
      put(files, `${directory}/${first!}.swap`, joined(get(files, `${directory}/${first!}`), get(files, `${directory}/${second!}`)))
    })
    const found = reopened(subject, log, settings)
    checkEqual(await readRecords(subject, found), before, 'records')
    await subject.restart!(files => {
      checkEqual(files.list(directory).filter(name => name.includes('.swap')), [], 'files with .swap')
    })
    checkEqual(await readRecords(subject, reopened(subject, log, settings)), before, 'records after another restart')
  }),
  claim('a .swap file that is not whole replaces nothing', async subject => {
    const log = newLog(subject, settings)
    fill(log, 60)
    const before = await readRecords(subject, log)
    const directory = directoryOf(subject, log)
    const broken: readonly ((bytes: Uint8Array) => Uint8Array)[] = [
      () => new Uint8Array(0),
      () => new Uint8Array(3000).fill(0xa5),
      () => new Uint8Array(4096),
      bytes => bytes.subarray(0, bytes.length - 1),
      bytes => bytes.map((byte, index) => index === bytes.length - 1 ? byte ^ 1 : byte),
    ]
    for (const leave of ['restart', 'kill'] as const) {
      for (const [index, breakIt] of broken.entries()) {
        for (const place of [0, 1]) {
          await subject[leave]!(files => {
            const name = logNames(files, directory)[place]!
            put(files, `${directory}/${name}.swap`, breakIt(get(files, `${directory}/${name}`)))
          })
          checkEqual(await readRecords(subject, reopened(subject, log, settings)), before, `records beside broken file ${index} of segment ${place}`)
          await subject.restart!(files => {
            for (const name of files.list(directory)) if (name.endsWith('.swap')) files.remove(`${directory}/${name}`)
          })
        }
      }
    }
  }),
  claim('damage below the recovery point takes the log out of service, with its bytes, and no other log', async subject => {
    const [damaged, sound] = [newLog(subject, settings), newLog(subject, settings)]
    for (const log of [damaged, sound]) fill(log, 40)
    // A start says in the checkpoint that everything is on the disk.
    await subject.restart!()
    const path = logFile(subject, damaged, 0)
    let size = 0
    const tear = (files: FileSystem): void => {
      const last = logNames(files, directoryOf(subject, damaged)).at(-1)!
      flip(files, `${directoryOf(subject, damaged)}/${last}`, length => length - 5)
      size = get(files, path).length
    }
    for (const change of [tear, undefined]) {
      await subject.kill!(change)
      const found = subject.store.find(damaged.id.topicId, 0)
      check(found !== undefined, 'the damaged log is listed')
      checkThrows('MR_LOG_CORRUPT', () => append(found, makeBatch(1)), 'an append to it')
      await checkRejects('MR_LOG_CORRUPT', readBytes(subject, found, { offset: 0, endOffset: 1 }), 'a read of it')
      checkEqual((await readRecords(subject, reopened(subject, sound, settings))).length, 40, 'records of the other one')
    }
    await subject.restart!(files => checkEqual(get(files, path).length, size, 'bytes of the damaged log'))
    checkThrows('MR_LOG_CORRUPT', () => subject.store.find(damaged.id.topicId, 0)!.truncateTo(0), 'a truncation of it')
  }),
  claim('a lost end below the recovery point is damage too', async subject => {
    const log = newLog(subject, { ...settings, segmentBytes: 100_000 })
    fill(log, 10)
    await subject.restart!(files => cutTo(files, logFile(subject, log, 0), size => size - makeBatch([{ timestamp: 1000, value: 'x' }]).length))
    checkThrows('MR_LOG_CORRUPT', () => append(subject.store.find(log.id.topicId, 0)!, makeBatch(1)), 'an append')
  }),
  claim('without its checkpoints a store checks everything and keeps everything', async subject => {
    const log = newLog(subject, settings)
    for (let index = 0; index < 40; index++) append(log, makeBatch(1), index >> 3)
    const before = await readRecords(subject, log)
    await subject.kill!(files => {
      for (const name of files.list(subject.dataDirectory!)) if (name.endsWith('checkpoint')) files.remove(`${subject.dataDirectory!}/${name}`)
      put(files, `${directoryOf(subject, log)}/leader-epoch-checkpoint`, Uint8Array.of(0x30, 0x0a, 0x39, 0x0a))
    })
    const found = reopened(subject, log, settings)
    checkEqual(await readRecords(subject, found), before, 'records')
    checkEqual(found.epochEnd(2), { leaderEpoch: 2, endOffset: 24 }, 'the end of an epoch')
  }),
  claim('a producer snapshot that is damaged or missing is made up for', async subject => {
    const sent = (sequence: number): Uint8Array => makeBatch(1, { producerId: 5, producerEpoch: 0, baseSequence: sequence })
    for (const [end, damage] of [['restart', removeFile], ['kill', removeFile], ['restart', garble], ['kill', garble]] as const) {
      const log = newLog(subject, settings)
      for (let index = 0; index < 40; index++) append(log, sent(index))
      await subject[end]!(files => {
        const names = files.list(directoryOf(subject, log)).filter(name => name.endsWith('.snapshot'))
        for (const name of names) damage(files, `${directoryOf(subject, log)}/${name}`)
      })
      const found = reopened(subject, log, settings)
      checkEqual(append(found, sent(39)).duplicate, true, `the last batch again, after ${end}`)
      checkThrows('MR_PRODUCER_OUT_OF_ORDER', () => append(found, sent(41)), `a gap, after ${end}`)
    }
  }),
  claim('a partition with records that does not say which topic it is of is not served, nor begun anew, until it does', async subject => {
    const log = newLog(subject, settings)
    fill(log, 5)
    const path = `${directoryOf(subject, log)}/partition.metadata`
    let metadata: Uint8Array = new Uint8Array(0)
    await subject.restart!(files => {
      metadata = get(files, path)
      files.remove(path)
    })
    for (const end of ['restart', 'kill'] as const) {
      checkEqual(subject.store.find(log.id.topicId, 0), undefined, 'the log')
      checkThrows('MR_LOG_MISSING', () => subject.store.create(log.id, topicSettings(settings)), 'making it anew')
      await subject[end]!(files => checkEqual(logNames(files, directoryOf(subject, log)).length > 0, true, 'its segments are there'))
    }
    await subject.restart!(files => put(files, path, metadata))
    checkEqual((await readRecords(subject, reopened(subject, log, settings))).length, 5, 'records')
  }),
  claim('a partition without records that does not say which topic it is of is set aside', async subject => {
    const log = newLog(subject, settings)
    await subject.restart!(files => files.remove(`${directoryOf(subject, log)}/partition.metadata`))
    checkEqual(subject.store.find(log.id.topicId, 0), undefined, 'the log')
    await subject.restart!(files => {
      check(files.list(subject.dataDirectory!).some(found => found.startsWith(`${log.id.topic}-0.`) && found.endsWith('-stray')), 'its directory is marked')
    })
  }),
  claim('a log whose directory is gone is not begun anew for the same topic; another topic of its name is', async subject => {
    const log = newLog(subject, settings)
    fill(log, 5)
    const directory = directoryOf(subject, log)
    await subject.restart!(files => {
      files.rename(directory, `${subject.dataDirectory!}/elsewhere`)
    })
    for (const end of ['restart', 'kill'] as const) {
      checkEqual(subject.store.find(log.id.topicId, 0), undefined, 'the log')
      checkThrows('MR_LOG_MISSING', () => subject.store.create(log.id, topicSettings(settings)), 'making it anew')
      await subject[end]!()
    }
    await subject.restart!(files => files.rename(`${subject.dataDirectory!}/elsewhere`, directory))
    checkEqual((await readRecords(subject, reopened(subject, log, settings))).length, 5, 'records, when it is back')
    await subject.restart!(files => files.remove(directory))
    const other = subject.store.create({ ...log.id, topicId: newTopicId() }, topicSettings(settings))
    append(other, makeBatch(2))
    await subject.kill!()
    checkEqual((await readRecords(subject, reopened(subject, other, settings))).length, 2, 'records of the log of another topic, after a kill')
  }),
  claim('the directory of a removed log is freed after file.delete.delay.ms, or at the next start', async subject => {
    const named = (files: FileSystem, log: PartitionLog): string[] => files.list(subject.dataDirectory!).filter(name => name.startsWith(log.id.topic))
    const [soon, late] = [newLog(subject, { ...settings, fileDeleteDelayMs: 1000 }), newLog(subject, { ...settings, fileDeleteDelayMs: 86_400_000 })]
    for (const log of [soon, late]) subject.store.remove(log.id.topicId, 0)
    subject.advance(1001)
    await subject.restart!(files => {
      checkEqual(named(files, soon), [], 'names of the one whose time has come')
      check(named(files, late)[0]!.endsWith('-delete'), 'the other one is marked')
    })
    await subject.restart!(files => checkEqual(named(files, late), [], 'names of the other one after a start'))
  }),
]

async function checkAll(subject: LogStoreSubject, log: PartitionLog, before: readonly FoundRecord[], what: string): Promise<void> {
  checkEqual(await readRecords(subject, log, 0, 300), [...before], `records with ${what}`)
  for (const record of before) {
    const found = await readRecords(subject, log, record.offset)
    checkEqual(found[0]?.offset, record.offset, `offset ${record.offset} with ${what}`)
    const hit = log.locate(record.timestamp, log.endOffset)
    checkEqual(hit?.offset, record.offset, `time ${record.timestamp} with ${what}`)
  }
  checkEqual(log.locate('max', log.endOffset)?.offset, before.at(-1)!.offset, `newest with ${what}`)
}
