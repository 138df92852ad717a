import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { startBroker } from './broker-process.ts'
import { callsIn, canTrace, repliesIn, straceCommand, usesRings, type Reply } from './trace/system-calls.ts'

const traceable = canTrace()
if (!traceable) console.warn('!! strace is not there, or may not trace: that no reply leaves before its sync is NOT checked against the system calls')

const partitions = 4
const rounds = 12
/** More than a log gives to one group of the redo log. */
const largeBytes = 200_000

/** Resolves with the trace when the process that was traced has ended. */
async function traceOf(file: string, pid: number): Promise<string> {
  for (;;) {
    const text = readFileSync(file, 'utf8')
    if (text.includes(`\n${pid} `) && new RegExp(`^${pid} .*\\+\\+\\+ exited with`, 'm').test(text)) return text
    await new Promise(resolve => { setTimeout(resolve, 10) })
  }
}

/** Whether anything but the zeroes that its files are filled with has been written to it. */
function redoIsUsed(directory: string): boolean {
  if (!existsSync(directory)) return false
  return readdirSync(directory).some((name) => name.endsWith('.redo') && readFileSync(join(directory, name)).subarray(0, 4096).some((byte) => byte !== 0))
}

/** Produces with acks=all on a connection for each partition, one record after the other: small ones, and every third large. */
async function replies(durability: 'fsync' | 'os'): Promise<readonly Reply[]> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-trace-'))
  const file = join(directory, 'trace')
  try {
    const broker = await startBroker(['--data', join(directory, 'data')], { command: [...straceCommand(file), process.execPath] })
    const marks: string[] = []
    const produce = async (partition: number): Promise<void> => {
      await using client = createClient({ bootstrap: broker.bootstrap })
      const producer = client.producer({ acks: 'all' })
      for (let round = 0; round < rounds; round++) {
        const mark = `<mark ${partition} ${round}>`
        await producer.send({ topic: 'traced', partition, value: mark + (round % 3 === 2 ? 'x'.repeat(largeBytes) : '') })
        // The first one goes with others' questions on the connection.
        if (round > 0) marks.push(mark)
      }
    }
    {
      await using client = createClient({ bootstrap: broker.bootstrap })
      await client.admin().createTopics([{ name: 'traced', partitions, configs: { durability } }])
    }
    // While the first file of the redo log is made everything is synced in its segment.
    for (let count = 0; durability === 'fsync' && !redoIsUsed(join(directory, 'data/__millrace_redo')); count++) {
      expect(count, 'records without any in the redo log').toBeLessThan(5000)
      await using client = createClient({ bootstrap: broker.bootstrap })
      await client.producer({ acks: 'all' }).send({ topic: 'traced', partition: 0, value: 'before' })
    }
    await Promise.all(Array.from({ length: partitions }, (_, partition) => produce(partition)))
    expect(await broker.end('SIGTERM')).toBe(0)
    const calls = callsIn(await traceOf(file, broker.child.pid!))
    expect(usesRings(calls), 'files are written and synced through a ring, which this does not see').toBe(false)
    const found = repliesIn(calls, marks)
    expect(found).toHaveLength(partitions * (rounds - 1))
    expect(found.filter(({ writtenTo }) => writtenTo.length === 0), 'records that were written nowhere').toEqual([])
    return found
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe.skipIf(!traceable)('the system calls of a broker that is asked for acks=all', () => {
  it('with durability fsync have, before each reply, a sync of the file that holds the record, begun after its write: a segment or the redo log', async () => {
    const found = await replies('fsync')
    expect(found.filter(({ syncedIn }) => syncedIn.length === 0)).toEqual([])
    const files = found.flatMap(({ syncedIn }) => syncedIn)
    expect(files.filter(path => path.endsWith('.redo')).length).toBeGreaterThan(0)
    expect(files.filter(path => path.endsWith('.log')).length).toBeGreaterThanOrEqual(partitions)
  })

  it('with durability os have none, and this would be seen', async () => {
    const found = await replies('os')
    expect(found.filter(({ syncedIn }) => syncedIn.length === 0).length).toBeGreaterThan(found.length * 0.9)
  })
})

describe('a trace', () => {
  const calls = (...lines: readonly string[]) => repliesIn(callsIn(lines.join('\n')), ['<m>'])
  const request = '7 1.0 read(20<TCP:[127.0.0.1:9092->127.0.0.1:5000]>, "..<m>..", 65536) = 90'
  const write = '7 1.1 pwrite64(18</data/t-0/0.log>, "..<m>..", 80, 0) = 80'
  const reply = '7 1.9 write(20<TCP:[127.0.0.1:9092->127.0.0.1:5000]>, "ok", 40) = 40'
  it.each<[string, readonly string[], boolean]>([
    ['a sync between write and reply', [request, write, '9 1.2 fdatasync(18</data/t-0/0.log>) = 0', reply], true],
    ['one that was interrupted by other calls, and ended before the reply', [request, write, '9 1.2 fdatasync(18</data/t-0/0.log> <unfinished ...>', '7 1.3 read(21<TCP:[b]>, "", 1) = 1', '9 1.4 <... fdatasync resumed>) = 0', reply], true],
    ['one that ended after the reply', [request, write, '9 1.2 fdatasync(18</data/t-0/0.log> <unfinished ...>', reply, '9 2.0 <... fdatasync resumed>) = 0'], false],
    ['one that began before the write', [request, '9 1.0 fdatasync(18</data/t-0/0.log> <unfinished ...>', write, '9 1.4 <... fdatasync resumed>) = 0', reply], false],
    ['one that failed', [request, write, '9 1.2 fdatasync(18</data/t-0/0.log>) = -1 EIO (Input/output error)', reply], false],
    ['one of another file', [request, write, '9 1.2 fdatasync(19</data/t-1/0.log>) = 0', reply], false],
    ['none', [request, write, reply], false],
  ])('with %s is told from the others', (_what, lines, holds) => {
    expect(calls(...lines)).toHaveLength(1)
    expect(calls(...lines)[0]!.syncedIn.length > 0).toBe(holds)
  })
})
