import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt, mainJs } from './built.ts'
import { startBroker, type BrokerProcess } from './broker-process.ts'
import { cli as run, jsonOf, oneLine, type CliResult } from './cli-run.ts'

let broker: BrokerProcess
beforeAll(async () => {
  ensureBuilt()
  broker = await startBroker(['--preset', 'memory'])
  await cli('topic', 'create', 'orders', '--partitions', '2')
  for (const partition of ['0', '1']) await run(['produce', 'orders', '--partition', partition], { bootstrap: broker.bootstrap, input: Array.from({ length: 50 }, (_, index) => `${partition}-${index}\n`).join('') })
}, 120_000)
afterAll(async () => { await broker.end('SIGTERM') })

const cli = (...args: readonly string[]): Promise<CliResult> => run(args, { bootstrap: broker.bootstrap })
const lines = ({ stdout }: CliResult): string[] => stdout.split('\n').filter((line) => line !== '')
const committed = async (group: string): Promise<(number | null)[]> =>
  (jsonOf(await cli('group', 'describe', group, '-o', 'json')) as { partitions: { committed: number | null }[] }).partitions.map((each) => each.committed)

describe('consume --group', () => {
  it.each(['classic', 'consumer'])('goes on where the group has committed, and commits what it prints, %s protocol', async (protocol) => {
    const consume = (...more: readonly string[]): Promise<CliResult> => cli('consume', 'orders', '--group', `billing-${protocol}`, '--group-protocol', protocol, ...more)
    const first = await consume('--max', '30')
    expect([first.code, first.stderr, lines(first).length]).toEqual([0, '', 30])
    const rest = await consume()
    expect([rest.code, lines(rest).length]).toEqual([0, 70])
    expect(new Set([...lines(first), ...lines(rest)]).size).toBe(100)
    expect(await consume()).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await committed(`billing-${protocol}`)).toEqual([50, 50])
  })

  it('leaves at SIGINT, with what it has printed committed', async () => {
    const child = spawn(process.execPath, [mainJs, 'consume', 'orders', '--group', 'followers', '--follow', '--bootstrap', broker.bootstrap], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise((resolve) => { child.once('exit', resolve) })
    let printed = ''
    for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      printed += text
      if (printed.split('\n').length > 100) break
    }
    child.kill('SIGINT')
    expect(await ended).toBe(0)
    const described = jsonOf(await cli('group', 'describe', 'followers', '-o', 'json'))
    expect(described).toMatchObject({ groupId: 'followers', state: 'Empty', members: [], lag: 0, partitions: [{ committed: 50 }, { committed: 50 }] })
  })

  it('begins with --from where nothing is committed, and refuses what a group decides', async () => {
    expect(await cli('consume', 'orders', '--group', 'late', '--from', 'end')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await committed('late')).toEqual([50, 50])
    for (const args of [['--from', '7'], ['--partition', '1']]) {
      const refused = await cli('consume', 'orders', '--group', 'late', ...args)
      expect([refused.code, oneLine(refused)]).toEqual([2, expect.stringMatching(/^error MR_CLI_USAGE: --(from|partition)/)])
    }
  })
})

describe('group', () => {
  it('list and describe show groups, their state and their lag', async () => {
    await cli('consume', 'orders', '--group', 'shown', '--max', '60')
    const listed = await cli('group', 'list')
    expect(listed.stdout).toMatch(/^group +state +type +members are\n/)
    expect(listed.stdout).toMatch(/^shown +Empty +classic +consumers$/m)
    expect(jsonOf(await cli('group', 'list', '--state', 'Empty', '-o', 'json'))).toMatchObject({ groups: expect.arrayContaining([{ groupId: 'shown', state: 'Empty', type: 'classic', protocolType: 'consumer' }]) })
    const described = await cli('group', 'describe', 'shown')
    expect(described.stdout).toMatch(/^group shown: Empty, 0 members, classic protocol.*, lag 40\n/)
    const none = await cli('group', 'describe', 'nobody')
    expect([none.code, oneLine(none)]).toEqual([1, 'error MR_CLIENT_GROUP_UNKNOWN: there is no group nobody; millrace group list names those there are'])
  })

  it('reset-offsets moves a group to where each way of saying it means', async () => {
    const reset = (...args: readonly string[]): Promise<CliResult> => cli('group', 'reset-offsets', 'moved', '--topic', 'orders', '--yes', ...args)
    for (const [args, offsets] of [
      [['--to-latest'], [50, 50]], [['--to-earliest'], [0, 0]], [['--to-offset', '20'], [20, 20]], [['--shift-by', '-5'], [15, 15]], [['--shift-by=100'], [50, 50]],
      [['--by-duration', '1h'], [0, 0]], [['--to-datetime', '2099-01-01'], [50, 50]], [['--topic', 'orders:1', '--to-offset', '3'], [3, 3]],
    ] as const) {
      expect((await reset(...args)).code).toBe(0)
      expect(await committed('moved'), args.join(' ')).toEqual(offsets)
    }
    const one = await cli('group', 'reset-offsets', 'moved', '--topic', 'orders:1', '--to-offset', '9', '--yes', '-o', 'json')
    expect(jsonOf(one)).toEqual({ groupId: 'moved', reset: true, dryRun: false, offsets: [{ topic: 'orders', partition: 1, before: 3, after: 9, endOffset: 50, lag: 41 }] })
    expect(await committed('moved')).toEqual([3, 9])
    expect((await reset('--to-offset', '99')).stderr).toContain('warning: orders-0 has no offset 99; 50 is the nearest\n')
  })

  it('reset-offsets and delete change nothing with --dry-run, and not without being told to', async () => {
    await cli('group', 'reset-offsets', 'kept', '--topic', 'orders', '--to-offset', '5', '--yes')
    expect((await cli('group', 'reset-offsets', 'kept', '--to-latest', '--dry-run')).stdout).toContain('would set 2 offsets of group kept\n')
    expect((await cli('group', 'delete', 'kept', '--dry-run')).stdout).toBe('would delete group kept: 2 committed offsets\n')
    for (const args of [['reset-offsets', 'kept', '--to-latest'], ['delete', 'kept']]) {
      const asked = await cli('group', ...args)
      expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('error MR_CLI_CONFIRM_NEEDED: ')])
    }
    expect(await committed('kept')).toEqual([5, 5])
    expect((await cli('group', 'delete', 'kept', '--yes')).stdout).toBe('deleted group kept: 2 committed offsets\n')
    expect((await cli('group', 'delete', 'kept', '--yes')).code).toBe(1)
  })

  it('a group with members is neither moved nor deleted', async () => {
    const child = spawn(process.execPath, [mainJs, 'consume', 'orders', '--group', 'busy', '--follow', '--bootstrap', broker.bootstrap], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise((resolve) => { child.once('exit', resolve) })
    await new Promise((resolve) => { child.stdout.once('data', resolve) })
    for (const args of [['reset-offsets', 'busy', '--to-latest', '--topic', 'orders'], ['delete', 'busy']]) {
      const refused = await cli('group', ...args, '--yes')
      expect([refused.code, oneLine(refused)]).toEqual([1, expect.stringMatching(/^error MR_CLIENT_GROUP_NOT_EMPTY: .* group busy has members; stop its consumers/)])
    }
    expect((await cli('group', 'describe', 'busy')).stdout).toMatch(/^group busy: Stable, 1 member, classic protocol, shared out by cooperative-sticky/)
    child.kill('SIGINT')
    await ended
  })

  it.each([
    [[], /say once where to: --to-earliest/], [['--to-latest', '--to-earliest'], /2 were given/], [['--to-datetime', 'noon'], /--to-datetime noon: it takes a time/],
    [['--by-duration', 'long'], /--by-duration long: it takes how long ago/], [['--to-latest', '--topic', 'orders:x'], /--topic orders:x: write it as/], [['--to-latest', '--topic', 'orders:7'], /orders has no partition 7/],
  ])('reset-offsets refuses %j', async (args, message) => {
    const refused = await cli('group', 'reset-offsets', 'any', ...args)
    expect([refused.code, oneLine(refused)]).toEqual([expect.any(Number), expect.stringMatching(message)])
    expect(refused.code).toBe(/no partition/.test(refused.stderr) ? 1 : 2)
  })
})
