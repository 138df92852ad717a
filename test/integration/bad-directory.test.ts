import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/index.ts'
import { type BrokerProcess, startBroker } from './broker-process.ts'
import { logLines } from './raw-peer.ts'

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

async function readAll(client: Client, count: number): Promise<(string | null)[]> {
  const consumer = client.consumer()
  consumer.assign([{ topic: 't', partition: 0, offset: 'beginning' }])
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
    const log = await withBroker(['--log-level', 'warn'], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 1, configs: { 'segment.bytes': '4194304' } }])
      // Something beside the data takes up room, and gives it back.
      writeFileSync(join(directory, 'ballast'), new Uint8Array(10 * 1024 * 1024))
      const producer = client.producer({ deliveryTimeoutMs: 3000, idempotence: true })
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
    expect(logLines(log).map(line => line.msg)).toEqual(['the disk is full: nothing is appended until there is space'])
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
      await using impatient = createClient({ bootstrap, requestTimeoutMs: 500 })
      // It asks again until its time is over, which may end the last question before its answer.
      await expect(impatient.admin().createTopics([{ name: 'more', partitions: 1 }])).rejects.toThrow(/nothing is added to it below|was not answered/)
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

  it('full at the start: it starts and serves what is there, or says what is missing; with room it starts', async () => {
    mount('size=16m')
    await withBroker([], async (_, client) => {
      await client.admin().createTopics([{ name: 't', partitions: 1 }])
      await client.producer().sendMany(Array.from({ length: 50 }, (_unused, index) => ({ topic: 't', value: `v${index}` })))
    })
    let ballast = 0
    for (let size = 8 * 1024 * 1024; size >= 1024; size /= 2) {
      try {
        for (;;) writeFileSync(join(directory, `ballast-${ballast++}`), new Uint8Array(size))
      } catch {
        // That large no more.
      }
    }
    const outcome = await startBroker(['--data', directory, '--http', 'off']).then(async broker => { await broker.end('SIGTERM'); return 'started' }, (error: unknown) => String(error))
    if (outcome !== 'started') expect(outcome).toMatch(/no space|ENOSPC|full/i)
    for (let index = 0; index < ballast; index++) rmSync(join(directory, `ballast-${index}`), { force: true })
    await withBroker([], async (_, client) => {
      expect(await readAll(client, 50)).toEqual(Array.from({ length: 50 }, (_unused, index) => `v${index}`))
    })
  }, 60_000)
})
