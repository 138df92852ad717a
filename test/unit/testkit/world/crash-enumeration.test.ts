import { expect, test } from 'vitest'
import { enumerateCrashes, type CrashPoint } from '../../../../src/testkit/world/crash-enumeration.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { bytesOf, filled, putSynced, runsOf } from './disk-files.ts'

interface Journal {
  readonly files: MemoryFileSystem
  /** Records that were acknowledged. */
  acknowledged: number
  append(record: number): Promise<void>
}

/** Appends records of 300 bytes, each with a sync before it is acknowledged, or without. */
function journal(syncs: boolean): Journal {
  const files = new MemoryFileSystem()
  const file = putSynced(files, '/journal', filled(1, 99))
  return {
    files, acknowledged: 0,
    async append(record) {
      file.write([filled(300, record)], 1 + (record - 1) * 300)
      files.list('/')
      if (syncs) await new Promise<void>(resolve => file.sync(() => resolve()))
      this.acknowledged = record
    },
  }
}

function checkJournal(files: MemoryFileSystem, { noted }: CrashPoint): void {
  const bytes = bytesOf(files, '/journal')
  for (let record = 1; record <= (noted as number); record++) {
    const found = bytes.subarray(1 + (record - 1) * 300, 1 + record * 300)
    if (found.length < 300 || found.some(byte => byte !== record)) throw new Error(`record ${record} is ${runsOf(found)}`)
  }
}

const enumerate = (subject: Journal) => enumerateCrashes({
  files: subject.files, random: 10,
  run: async () => { for (let record = 1; record <= 4; record++) await subject.append(record) },
  note: () => subject.acknowledged,
  check: checkJournal,
})

test('a crash between any two steps: what was acknowledged then is asked of every disk that may be left', async () => {
  const { moments, images } = await enumerate(journal(true))
  // Before each write, and after it until the sync is done; and at the end. Reading makes no moment of its own.
  expect(moments).toBe(9)
  expect(images).toBeGreaterThan(50)
})

test('what is acknowledged without a sync is found missing, and the words say where', async () => {
  await expect(enumerate(journal(false))).rejects.toThrow(/^after a crash before write \/journal, call 3, with nothing unsynced: record 1 is $/)
})

test('the observer that was there sees the calls too, and is back at the end', async () => {
  const subject = journal(true)
  const seen: string[] = []
  const observer = ({ kind }: { readonly kind: string }): void => { seen.push(kind) }
  subject.files.observe = observer
  await enumerate(subject)
  expect(seen.slice(0, 3)).toEqual(['write', 'list', 'sync'])
  expect(subject.files.observe).toBe(observer)
})
