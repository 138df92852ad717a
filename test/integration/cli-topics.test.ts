import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, mainJs } from './built.ts'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { cli as run, jsonOf, oneLine, type CliResult } from './cli-run.ts'

let broker: BrokerProcess
beforeAll(async () => {
  ensureBuilt()
  broker = await startBroker(['--preset', 'memory', '--set', 'auto.create.topics.enable=false'])
}, 120_000)
afterAll(async () => { await broker.end('SIGTERM') })

const cli = (...args: readonly string[]): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap })

describe('topic create', () => {
  it('makes a topic with partitions and settings, and says so', async () => {
    const created = await cli('topic', 'create', 'orders', '--partitions', '3', '--config', 'retention.ms=60000', '--config', 'max.message.bytes=2048')
    expect(created).toEqual({ code: 0, stdout: 'orders created: 3 partitions, replication factor 1\n', stderr: '' })
    const described = jsonOf(await cli('topic', 'describe', 'orders', '-o', 'json')) as { partitions: unknown[], configs: unknown[] }
    expect(described.partitions.length).toBe(3)
    expect(described.configs).toEqual(expect.arrayContaining([
      expect.objectContaining({ name: 'retention.ms', value: '60000', source: 'topic' }), expect.objectContaining({ name: 'max.message.bytes', value: '2048', source: 'topic' }),
    ]))
  })

  it('of a name that is taken fails, and is fine with --if-not-exists', async () => {
    await cli('topic', 'create', 'taken')
    const again = await cli('topic', 'create', 'taken')
    expect([again.code, oneLine(again)]).toEqual([1, 'error MR_TOPIC_EXISTS: topic taken exists already; choose another name, or delete it first'])
    expect(await cli('topic', 'create', 'taken', '--if-not-exists')).toEqual({ code: 0, stdout: 'taken exists already\n', stderr: '' })
  })

  it('of a name that is taken says with --if-not-exists where the topic is not what was asked for', async () => {
    await cli('topic', 'create', 'differs', '--partitions', '3', '--config', 'retention.ms=1000')
    const same = await cli('topic', 'create', 'differs', '--if-not-exists', '--partitions', '3', '--replication-factor', '1', '--config', 'retention.ms=1000')
    expect(same).toEqual({ code: 0, stdout: 'differs exists already\n', stderr: '' })
    const other = await cli('topic', 'create', 'differs', '--if-not-exists', '--partitions', '5', '--config', 'retention.ms=2000')
    expect(other.code).toBe(0)
    expect(other.stderr).toBe('warning: differs has 3 partitions, not the 5 that were asked for\nwarning: differs has retention.ms=1000, not the 2000 that was asked for\n')
  })

  it('warns of a min.insync.replicas that can never be met, also with --dry-run, and produce says why it waits and what an interrupt leaves', async () => {
    const never = /^warning: min\.insync\.replicas=2 can never be met with a replication factor of 1/
    for (const more of [['--dry-run'], []]) {
      expect(await cli('topic', 'create', 'never', '--config', 'min.insync.replicas=2', ...more)).toMatchObject({ code: 0, stderr: expect.stringMatching(never) })
    }
    expect((await cli('topic', 'describe', 'never')).stdout).toMatch(/^note: min\.insync\.replicas=2 can never be met/m)
    const child = spawn(process.execPath, [mainJs, 'produce', 'never', '--bootstrap', broker.bootstrap], { stdio: ['pipe', 'ignore', 'pipe'] })
    const ended = new Promise((resolve) => { child.once('exit', resolve) })
    child.stdin.end('a\nb\n')
    let said = ''
    for await (const text of child.stderr.setEncoding('utf8') as AsyncIterable<string>) {
      said += text
      if (!child.killed && /NOT_ENOUGH_REPLICAS.*; trying again\n/.test(said)) child.kill('SIGTERM')
    }
    expect(await ended).toBe(1)
    expect(said).toContain('warning: stopping: 2 records were not acknowledged; what was sent of them may be stored\n')
    expect(said).not.toContain('100%')
  })

  it('with a mistyped setting is refused with the nearest name, and makes nothing', async () => {
    const refused = await cli('topic', 'create', 'typo', '--config', 'retention.mss=1')
    expect([refused.code, oneLine(refused)]).toEqual([2, expect.stringMatching(/retention\.mss; did you mean retention\.ms\?/)])
    expect((await cli('topic', 'describe', 'typo')).code).toBe(1)
  })

  it('warns of settings that have not their effect here, in text and JSON', async () => {
    const created = await cli('topic', 'create', 'flushed', '--config', 'flush.ms=5')
    expect([created.code, created.stderr]).toEqual([0, expect.stringMatching(/^warning: flush\.ms has no effect here/)])
    expect(await cli('topic', 'create', 'compacted', '--config', 'cleanup.policy=compact')).toMatchObject({ code: 0, stderr: '' })
    const dry = jsonOf(await cli('topic', 'create', 'other', '--config', 'flush.ms=5', '--dry-run', '-o', 'json'))
    expect(dry).toMatchObject({ name: 'other', created: false, dryRun: true, warnings: [expect.stringContaining('flush.ms has no effect here')] })
  })

  it('with --dry-run checks everything and makes nothing', async () => {
    expect((await cli('topic', 'create', 'dry', '--dry-run')).stdout).toBe('dry can be created: 1 partition, replication factor 1\n')
    expect((await cli('topic', 'create', 'bad name', '--dry-run')).code).toBe(1)
    expect((await cli('topic', 'describe', 'dry')).code).toBe(1)
  })
})

describe('topic list', () => {
  it('shows topics by name, also as JSON', async () => {
    await cli('topic', 'create', 'list-b', '--partitions', '2')
    await cli('topic', 'create', 'list-a')
    const { stdout } = await cli('topic', 'list')
    expect(stdout).toMatch(/^topic +partitions +id\n/)
    expect(stdout).toMatch(/^list-a +1 +\S{22}\nlist-b +2 +\S{22}$/m)
    expect(jsonOf(await cli('topic', 'list', '-o', 'json'))).toMatchObject({ topics: expect.arrayContaining([{ name: 'list-a', topicId: expect.stringMatching(/^\S{22}$/), isInternal: false, partitions: 1 }]) })
  })
})

describe('topic describe', () => {
  it('shows leader, epoch, replicas, offsets, settings with their source, and what has no effect', async () => {
    await cli('topic', 'create', 'shown', '--config', 'cleanup.policy=compact', '--config', 'segment.ms=3600000', '--config', 'flush.ms=5')
    await run(['produce', 'shown', '--key-separator', ':'], { bootstrap: broker.bootstrap, input: 'a:1\nb:2\n' })
    const { stdout } = await cli('topic', 'describe', 'shown')
    expect(stdout).toMatch(/^shown {2}1 partition {2}replication factor 1 {2}\d+ B {2}id \S{22}\n/)
    expect(stdout).toMatch(/^partition +leader +epoch +replicas +in sync +start +end +records +size\n +0 +1 +0 +1 +1 +0 +2 +2 +\S+/m)
    expect(stdout).toMatch(/^segment\.ms +3600000 \(1h\) +topic$/m)
    expect(stdout).toMatch(/^partition +broker +dirty +dirty size +clean up to +last compacted\n +0 +1 +0% +0 B +0 +-$/m)
    expect(stdout).toMatch(/^note: flush\.ms has no effect here/m)
  })

  it('as JSON holds the same, and all settings with --all', async () => {
    await cli('topic', 'create', 'shown-json', '--partitions', '2')
    const few = jsonOf(await cli('topic', 'describe', 'shown-json', '-o', 'json'))
    const all = jsonOf(await cli('topic', 'describe', 'shown-json', '-o', 'json', '--all')) as { configs: unknown[] }
    expect(few).toMatchObject({
      name: 'shown-json', isInternal: false, warnings: [],
      partitions: [0, 1].map((partition) => ({ partition, leader: 1, leaderEpoch: 0, replicas: [1], isr: [1], offline: [], startOffset: 0, endOffset: 0, records: 0, damaged: [], compaction: [] })),
    })
    expect(all.configs.length).toBeGreaterThan(30)
    expect(all.configs).toContainEqual(expect.objectContaining({ name: 'cleanup.policy', value: 'delete', source: 'default' }))
  })

  it('of a mistyped name suggests the nearest', async () => {
    await cli('topic', 'create', 'payments')
    const refused = await cli('topic', 'describe', 'paymnets')
    expect([refused.code, oneLine(refused)]).toEqual([1, 'error MR_TOPIC_UNKNOWN: topic paymnets does not exist; did you mean payments?'])
  })
})

describe('topic delete', () => {
  it('without a terminal and without --yes is refused and destroys nothing', async () => {
    await cli('topic', 'create', 'kept')
    const refused = await cli('topic', 'delete', 'kept')
    expect([refused.code, oneLine(refused)]).toEqual([2, expect.stringMatching(/^error MR_CLI_CONFIRM_NEEDED: deleting topic kept destroys 1 partition with up to 0 records.*add --yes/)])
    expect((await cli('topic', 'delete', 'kept', '--dry-run')).stdout).toMatch(/^would delete kept: 1 partition with up to 0 records/)
    expect((await cli('topic', 'describe', 'kept')).code).toBe(0)
  })

  it('with --yes deletes', async () => {
    await cli('topic', 'create', 'gone')
    expect(await cli('topic', 'delete', 'gone', '--yes')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^deleted gone: 1 partition/), stderr: '' })
    expect((await cli('topic', 'describe', 'gone')).code).toBe(1)
    expect((await cli('topic', 'delete', 'gone', '--yes')).code).toBe(1)
  })
})

describe('topic alter', () => {
  it('sets and deletes settings, shows what was and is, and leaves the others alone', async () => {
    await cli('topic', 'create', 'altered', '--config', 'retention.ms=60000', '--config', 'segment.ms=5000', '--config', 'max.message.bytes=2048')
    const changed = await cli('topic', 'alter', 'altered', '--config', 'retention.ms=90000', '--delete-config', 'segment.ms')
    expect(changed).toEqual({
      code: 0, stderr: '',
      stdout: 'altered changed\n\nsetting       before  after\nretention.ms  60000   90000\nsegment.ms    5000    604800000 (default)\n',
    })
    const { configs } = jsonOf(await cli('topic', 'describe', 'altered', '-o', 'json')) as { configs: { name: string, value: string, source: string }[] }
    expect(configs.filter(({ source }) => source === 'topic').map(({ name, value }) => `${name}=${value}`)).toEqual(['max.message.bytes=2048', 'retention.ms=90000'])
  })

  it('adds partitions, beside settings, as JSON', async () => {
    await cli('topic', 'create', 'grown', '--partitions', '2')
    const grown = jsonOf(await cli('topic', 'alter', 'grown', '--partitions', '5', '--config', 'retention.ms=1000', '--delete-config', 'segment.mss', '-o', 'json'))
    expect(grown).toEqual({
      name: 'grown', partitions: { before: 2, after: 5 }, dryRun: false,
      configs: [{ name: 'retention.ms', before: null, after: '1000' }, { name: 'segment.mss', before: null, after: null }],
      warnings: [
        'segment.mss is no setting of topics; did you mean segment.ms?', 'retention.ms was 604800000 and is 1000: what is beyond it is dropped soon', expect.stringContaining('may go to another partition'),
      ],
    })
    expect(jsonOf(await cli('topic', 'describe', 'grown', '-o', 'json'))).toMatchObject({ partitions: { length: 5 } })
  })

  it('with --dry-run checks everything, says what would be lost, and changes nothing', async () => {
    await cli('topic', 'create', 'dry-altered', '--config', 'retention.ms=60000')
    const dry = await cli('topic', 'alter', 'dry-altered', '--config', 'cleanup.policy=compact', '--delete-config', 'retention.ms', '--partitions', '3', '--dry-run')
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^dry-altered can be changed: 1 partition, then 3\n\n.*\ncleanup\.policy +delete \(default\) +compact\nretention\.ms +60000 +\(its default\)\n$/) })
    expect(dry.stderr).toMatch(/^warning: cleanup\.policy has compact now.*\nwarning: records of a key/)
    const { partitions, configs } = jsonOf(await cli('topic', 'describe', 'dry-altered', '-o', 'json')) as { partitions: unknown[], configs: { name: string, source: string }[] }
    expect([partitions.length, configs.filter(({ source }) => source === 'topic').map(({ name }) => name)]).toEqual([1, ['retention.ms']])
  })

  it('of which one part is refused makes none of it', async () => {
    await cli('topic', 'create', 'whole', '--partitions', '2')
    for (const [args, code, says] of [
      [['--config', 'retention.ms=1', '--config', 'segment.mss=1'], 2, /segment\.mss; did you mean segment\.ms\?/], [['--config', 'retention.ms=soon', '--partitions', '4'], 2, /retention\.ms/],
      [['--config', 'retention.ms=1', '--partitions', '2'], 1, /whole/], [['--config', 'retention.ms=1', '--delete-config', 'retention.ms'], 2, /given twice/], [[], 2, /nothing to change/],
    ] as const) {
      const refused = await cli('topic', 'alter', 'whole', ...args)
      expect([refused.code, oneLine(refused)], args.join(' ')).toEqual([code, expect.stringMatching(says)])
    }
    const { partitions, configs } = jsonOf(await cli('topic', 'describe', 'whole', '-o', 'json')) as { partitions: unknown[], configs: { source: string }[] }
    expect([partitions.length, configs.filter(({ source }) => source === 'topic')]).toEqual([2, []])
  })

  it('warns of what has no effect here, and of a min.insync.replicas that can never be met', async () => {
    await cli('topic', 'create', 'warned')
    const warned = await cli('topic', 'alter', 'warned', '--config', 'flush.ms=5', '--config', 'min.insync.replicas=2')
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: flush\.ms has no effect here.*\nwarning: min\.insync\.replicas=2 can never be met.*topic alter/) })
  })

  it('of a mistyped topic suggests the nearest', async () => {
    await cli('topic', 'create', 'parcels')
    const refused = await cli('topic', 'alter', 'parcles', '--partitions', '3')
    expect([refused.code, oneLine(refused)]).toEqual([1, 'error MR_TOPIC_UNKNOWN: topic parcles does not exist; did you mean parcels?'])
  })
})

describe('cluster', () => {
  it('status shows brokers, controller and counts', async () => {
    const status = await cli('cluster', 'status')
    expect([status.code, status.stdout]).toEqual([0, expect.stringMatching(/^cluster \S{22}: 1 broker, \d+ topics, \d+ partitions, all replicas in sync\n\nbroker +address.*\n +1 +127\.0\.0\.1:\d+ .*controller\n$/)])
    const json = jsonOf(await cli('cluster', 'status', '-o', 'json'))
    expect(json).toMatchObject({ controllerId: 1, leaderless: 0, underReplicated: 0, brokers: [{ nodeId: 1, host: '127.0.0.1', isController: true }] })
  })

  it('verbs that are not there are refused', async () => {
    for (const verb of ['quorum', 'reassign', 'elect', 'drain']) {
      const refused = await cli('cluster', verb)
      expect([refused.code, oneLine(refused)]).toEqual([2, expect.stringMatching(new RegExp(`^error MR_CLI_NOT_AVAILABLE: millrace cluster ${verb}`))])
    }
  })
})
