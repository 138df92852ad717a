import { describe, expect, it } from 'vitest'
import { crc32c } from '../../../../src/base/crc32c.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { CrashDisk } from './crash-key-value.ts'
import { voterWorld } from './voter-world.ts'

const fatal = { fatal: (error: unknown) => { throw error } }

/** Large commands are dear to compare byte by byte. */
const digests = (commands: readonly Uint8Array[]): string[] => commands.map((bytes) => `${bytes.length} ${crc32c(bytes)}`)

const command = (name: string, bytes: number): Uint8Array => new Uint8Array(bytes).fill(name.charCodeAt(0), 0, bytes)

async function boot(disk: CrashDisk, crashAt?: number, carriedOut?: boolean) {
  const { engine, crashed } = disk.boot(crashAt, carriedOut)
  const voter = new SingleVoter({ nodeId: 1, path: '/meta', snapshotEntries: 4, snapshotBytes: 200_000, reserveBytes: 0 }, voterWorld(engine, fatal))
  const machine = new NotedMachine()
  const run = async (work: () => Promise<void>): Promise<boolean> => {
    let finished = false
    await Promise.race([crashed, (async () => {
      await voter.start()
      await voter.open(machine)
      await work()
      finished = true
    })()])
    return finished
  }
  return { voter, machine, run }
}

/** Appends some commands one by one and some at once, enough for several snapshots, one of them of several pieces. */
async function workload(voter: SingleVoter, sent: Uint8Array[], acknowledged: Uint8Array[]): Promise<void> {
  const append = async (each: Uint8Array): Promise<void> => {
    sent.push(each)
    await voter.append([each])
    acknowledged.push(each)
  }
  for (const name of ['a', 'b', 'c']) await append(command(name, 3))
  await Promise.all(['d', 'e', 'f', 'g', 'h'].map((name) => append(command(name, 5))))
  await append(command('i', 70_000))
  for (const name of ['j', 'k']) await append(command(name, 1))
}

describe('killed at any write', () => {
  it('a voter comes back with all that it acknowledged, in order, nothing that was not sent, and goes on', async () => {
    const whole = new CrashDisk()
    const first = await boot(whole)
    expect(await first.run(() => workload(first.voter, [], []))).toBe(true)
    const writes = whole.writes
    expect(writes).toBeGreaterThan(20)
    for (let crashAt = 1; crashAt <= writes; crashAt++) {
      for (const carriedOut of [false, true]) {
        const title = `write ${crashAt}, ${carriedOut ? '' : 'not '}carried out`
        const disk = new CrashDisk()
        const sent: Uint8Array[] = []
        const acknowledged: Uint8Array[] = []
        const dying = await boot(disk, crashAt, carriedOut)
        expect(await dying.run(() => workload(dying.voter, sent, acknowledged)), title).toBe(false)
        const acknowledgedThen = acknowledged.length
        const { voter, machine, run } = await boot(disk)
        expect(await run(async () => {}), title).toBe(true)
        expect(machine.commands.length, title).toBeGreaterThanOrEqual(acknowledgedThen)
        expect(digests(machine.commands), title).toEqual(digests(sent.slice(0, machine.commands.length)))
        expect(machine.ledTerm, title).toBeGreaterThan(dying.machine.ledTerm)
        await voter.append([command('z', 2)])
        await voter.stop()
        const again = await boot(disk)
        expect(await again.run(async () => {}), title).toBe(true)
        expect(digests(again.machine.commands), title).toEqual(digests(machine.commands))
        expect([...disk.stores.get('/meta/log')!.keys()].filter((key) => key.startsWith('s')).length, `${title}: pieces of one snapshot at most`).toBeLessThan(5)
      }
    }
  })

  it('in a recovery, it recovers the same', async () => {
    const prepared = new CrashDisk()
    const first = await boot(prepared, 19, true)
    await first.run(() => workload(first.voter, [], []))
    const copy = (): CrashDisk => {
      const disk = new CrashDisk()
      for (const [path, entries] of prepared.stores) disk.stores.set(path, new Map(entries))
      return disk
    }
    const expected = await boot(copy())
    await expected.run(async () => {})
    for (const crashAt of [1, 2]) {
      for (const carriedOut of [false, true]) {
        const disk = copy()
        await (await boot(disk, crashAt, carriedOut)).run(async () => {})
        const { machine, run } = await boot(disk)
        expect(await run(async () => {})).toBe(true)
        expect(digests(machine.commands)).toEqual(digests(expected.machine.commands))
      }
    }
  })
})
