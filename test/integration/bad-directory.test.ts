import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/index.ts'
import { createTopicsApi, produceApi } from '../../src/wire/index.ts'
import { batchOf } from '../unit/plugins/protocol-kafka/fixture/batches.ts'
import { type BrokerProcess, startBroker } from './broker-process.ts'
import { callOnce, logLines } from './raw-peer.ts'

let directory = ''
let mounted = false
beforeEach(() => { directory = mkdtempSync(join(tmpdir(), 'millrace-bad-directory-')) })
afterEach(() => {
  if (mounted) execFileSync('umount', [directory])
  mounted = false
  rmSync(directory, { recursive: true, force: true })
})

/** A small disk of its own for the directory, where this user may make one. */
function mount(options: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', directory], { stdio: 'pipe' })
    mounted = true
  } catch {
    // Not root, or no mounts in this container.
  }
  return mounted
}

const canMount = ((): boolean => {
  const probe = mkdtempSync(join(tmpdir(), 'millrace-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', probe], { stdio: 'pipe' })
    execFileSync('umount', [probe])
    return true
  } catch {
    return false
  } finally {
    rmSync(probe, { recursive: true, force: true })
  }
})()

async function withBroker(args: readonly string[], run: (broker: BrokerProcess, client: Client) => Promise<void>): Promise<string> {
  const broker = await startBroker(['--data', directory, '--http', 'off', '--no-warm-up', ...args])
  const client = createClient({ bootstrap: broker.bootstrap, requestTimeoutMs: 10_000 })
  try {
    await run(broker, client)
  } finally {
    await client.close()
    expect(await broker.end('SIGTERM')).toBe(0)
  }
  return broker.log()
}

const portOf = (bootstrap: string): number => Number(bootstrap.split(':')[1])

async function readAll(client: Client, count: number, partition = 0): Promise<(string | null)[]> {
  const consumer = client.consumer()
  consumer.assign([{ topic: 't', partition, offset: 'beginning' }])
  const values: (string | null)[] = []
  while (values.length < count) {
    const records = await consumer.poll({ timeoutMs: 10_000 })
    if (records.length === 0) break
    values.push(...records.map(record => record.text()))
  }
  await consumer.close()
  return values
}

describe('stray files and directories among the data', () => {
  it('are left alone, with a line in the log for each that could be taken for data, and everything is served', async () => {
    await withBroker([], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 1 }])
      await client.producer().sendMany(['a', 'b', 'c'].map(value => ({ topic: 't', value })))
    })
    const strays = ['notes.txt', 'core.1234', 't-0/README', 't-0/00000000000000000000.log.bak', 'lost+found/x', 'no-partition/y', 'copy-of-t-0/00000000000000000000.log']
    for (const stray of strays) {
      mkdirSync(join(directory, stray, '..'), { recursive: true })
      writeFileSync(join(directory, stray), 'stray')
    }
    const log = await withBroker(['--log-level', 'warn'], async (_, client) => {
      expect(await readAll(client, 3)).toEqual(['a', 'b', 'c'])
      await client.producer().send({ topic: 't', value: 'd' })
      expect((await client.admin().listTopics()).map(({ name }) => name)).toEqual(['t'])
    })
    const lines = logLines(log)
    expect(lines.filter(line => line.level !== 'warn' && !line.msg.includes('set aside'))).toEqual([])
    expect(lines.length).toBeLessThanOrEqual(strays.length)
    for (const stray of strays.filter(name => !name.startsWith('copy-of-t-0'))) expect(existsSync(join(directory, stray)), stray).toBe(true)
    // What looks like a partition and has no topic id is renamed, and keeps its bytes.
    const copy = readdirSync(directory).find(name => name.startsWith('copy-of-t-0'))
    expect(readdirSync(join(directory, copy!))).toContain('00000000000000000000.log')
  })
})

describe('data that is not there any more', () => {
  it('a partition whose directory is gone, or its topic id: a line in the log says so, it is not begun anew, and the others are served', async () => {
    await withBroker([], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 3 }])
      for (const partition of [0, 1, 2]) await client.producer().sendMany(['a', 'b'].map(value => ({ topic: 't', partition, value })))
    })
    renameSync(join(directory, 't-1'), join(directory, 'moved'))
    renameSync(join(directory, 't-2/partition.metadata'), join(directory, 't-2/kept.txt'))
    const log = await withBroker(['--log-level', 'error'], async (_, client) => {
      expect(await readAll(client, 2)).toEqual(['a', 'b'])
      for (const partition of [1, 2]) {
        const producer = client.producer({ deliveryTimeoutMs: 1500 })
        await expect(producer.send({ topic: 't', partition, value: 'c' })).rejects.toThrow()
        await producer.close({ timeoutMs: 0 })
      }
    })
    const text = logLines(log).map(line => JSON.stringify(line)).join()
    expect(text).toContain('MR_LOG_MISSING')
    for (const name of ['t-1', 't-2']) expect(text).toContain(join(directory, name))
    expect(existsSync(join(directory, 't-1'))).toBe(false)
    renameSync(join(directory, 'moved'), join(directory, 't-1'))
    renameSync(join(directory, 't-2/kept.txt'), join(directory, 't-2/partition.metadata'))
    await withBroker([], async (_, client) => {
      for (const partition of [0, 1, 2]) expect(await readAll(client, 2, partition)).toEqual(['a', 'b'])
    })
  })

  it('a directory in the place of an index: it is set aside with a line in the log, and the partition is served and rolled', async () => {
    await withBroker([], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 1, configs: { 'segment.bytes': '1048576' } }])
      await client.producer().sendMany(['a', 'b'].map(value => ({ topic: 't', value })))
    })
    const index = join(directory, 't-0/00000000000000000000.index')
    rmSync(index)
    mkdirSync(join(index, 'inside'), { recursive: true })
    const log = await withBroker(['--log-level', 'error'], async (_, client) => {
      expect(await readAll(client, 2)).toEqual(['a', 'b'])
      for (let count = 0; count < 3; count++) await client.producer().send({ topic: 't', value: 'x'.repeat(600_000) })
      expect((await readAll(client, 5)).length).toBe(5)
    })
    expect(logLines(log).map(line => line.msg)).toEqual([expect.stringContaining('set aside')])
    expect(existsSync(`${index}.set-aside-1/inside`)).toBe(true)
  })
})

describe.skipIf(!canMount)('a disk of its own', () => {
  it('read only: the start is refused with one line that names the directory', async () => {
    mount('size=8m')
    await withBroker([], async (_, client) => { await client.admin().createTopics([{ name: 't', partitions: 1 }]) })
    execFileSync('mount', ['-o', 'remount,ro', directory])
    const refused = await startBroker(['--data', directory, '--http', 'off']).then(() => 'started', (error: unknown) => String(error))
    const lines = refused.split('\n').filter(line => line !== '' && !line.startsWith('{') && !line.startsWith('Error: the broker ended'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(directory)
    expect(lines[0]).toMatch(/EROFS|read-only|not permitted|denied/i)
  })

  it('full: writers are told, readers are served, what was acknowledged stays, and with room again it goes on', async () => {
    mount('size=24m')
    const acknowledged: string[] = []
    const log = await withBroker(['--log-level', 'info'], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 1, configs: { 'segment.bytes': '4194304' } }])
      // Something beside the data takes up room, and gives it back.
      writeFileSync(join(directory, 'ballast'), new Uint8Array(10 * 1024 * 1024))
      const producer = client.producer({ deliveryTimeoutMs: 10_000, idempotence: true })
      let failure: unknown
      for (let count = 0; failure === undefined && count < 100_000; count++) {
        const value = `${count} ${'x'.repeat(50_000)}`
        await producer.send({ topic: 't', value }).then(() => acknowledged.push(value), (error: unknown) => { failure = error })
      }
      expect(acknowledged.length).toBeGreaterThan(20)
      expect(String(failure)).toMatch(/KAFKA_STORAGE_ERROR .*no space left on the device/)
      await producer.close({ timeoutMs: 0 })
      expect(await readAll(client, acknowledged.length)).toEqual(acknowledged)
      rmSync(join(directory, 'ballast'))
      const again = client.producer()
      for (let count = 0; count < 5; count++) {
        const value = `again ${count}`
        await again.send({ topic: 't', value })
        acknowledged.push(value)
      }
      await again.close()
    })
    expect(logLines(log).filter(line => /disk/.test(line.msg)).map(line => line.msg)).toEqual(['the disk is full: nothing is appended until there is space', 'there is space on the disk again: appends go on'])
    await withBroker([], async (_, client) => {
      const found = await readAll(client, acknowledged.length)
      // The one that failed may have been stored, once.
      const wanted = new Set(acknowledged)
      expect(found.filter(value => wanted.has(value!))).toEqual(acknowledged)
    })
  }, 120_000)

  it('full to the last byte: no topic is created and the client is told why, topics are deleted, also after a restart, until there is space', async () => {
    mount('size=24m')
    const fill = (): void => {
      for (let size = 4 * 1024 * 1024; size >= 512; size /= 2) {
        try {
          for (;;) appendFileSync(join(directory, 'ballast'), new Uint8Array(size))
        } catch {
          // That large no more.
        }
      }
    }
    const refusesToCreate = async ({ bootstrap }: BrokerProcess): Promise<void> => {
      const answer = await callOnce(portOf(bootstrap), createTopicsApi, 7, { timeoutMs: 30_000, topics: [{ name: 'more', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }] })
      expect(answer.topics[0]).toMatchObject({ errorCode: 56, errorMessage: expect.stringContaining('nothing is added to it below') })
    }
    const log = await withBroker(['--log-level', 'error'], async (broker, client) => {
      const admin = client.admin()
      await admin.createTopics(['a', 'b', 'c', 'd'].map(name => ({ name, partitions: 20 })))
      for (const name of ['a', 'b']) {
        // What was freed goes too.
        fill()
        await refusesToCreate(broker)
        await admin.deleteTopics([name])
      }
      fill()
    })
    expect(logLines(log).filter(line => line.msg.includes('nothing is added to the metadata'))).toHaveLength(1)
    await withBroker([], async (broker, client) => {
      fill()
      await refusesToCreate(broker)
      await client.admin().deleteTopics(['c'])
      expect((await client.admin().listTopics()).map(({ name }) => name)).toEqual(['d'])
      rmSync(join(directory, 'ballast'))
      await client.admin().createTopics([{ name: 'more', partitions: 1 }])
    })
  }, 60_000)

  it('full at the start: with its reserve it starts, and serves readers; without, it is refused with what to do; with room it starts', async () => {
    mount('size=16m')
    const values = Array.from({ length: 50 }, (_unused, index) => `v${index}`)
    await withBroker([], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 1 }])
      await client.producer().sendMany(values.map(value => ({ topic: 't', value })))
    })
    let ballast = 0
    const fill = (): void => {
      for (let size = 8 * 1024 * 1024; size >= 1024; size /= 2) {
        try {
          for (;;) writeFileSync(join(directory, `ballast-${ballast++}`), new Uint8Array(size))
        } catch {
          // That large no more.
        }
      }
    }
    fill()
    const log = await withBroker(['--log-level', 'error'], async ({ bootstrap }, client) => {
      expect(await readAll(client, 50)).toEqual(values)
      for (let count = 0; count < 3; count++) {
        const answer = await callOnce(portOf(bootstrap), produceApi, 9, { acks: -1, timeoutMs: 30_000, topicData: [{ name: 't', partitionData: [{ index: 0, records: batchOf(['refused']) }] }] })
        expect(answer.responses[0]!.partitionResponses[0]!.errorCode).toBe(56)
      }
    })
    // One line for all that was refused.
    expect(logLines(log).map(line => line.msg).filter(message => !message.includes('metadata'))).toEqual(['the disk is full: nothing is appended until there is space'])
    fill()
    const refused = await startBroker(['--data', directory, '--http', 'off']).then(() => 'started', (error: unknown) => String(error))
    const lines = refused.split('\n').filter(line => line.startsWith('error '))
    expect(lines).toEqual([expect.stringMatching(`^error MR_LOG_DIRECTORY_FULL: the disk of the data directory ${directory} is full.* free some MiB on that disk`)])
    for (let index = 0; index < ballast; index++) rmSync(join(directory, `ballast-${index}`), { force: true })
    await withBroker([], async (_, client) => {
      expect(await readAll(client, 50)).toEqual(values)
      await client.producer().send({ topic: 't', value: 'again' })
    })
  }, 60_000)
})
