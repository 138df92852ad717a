import { describe, expect, it } from 'vitest'
import { crc32c } from '../../../../src/base/crc32c.ts'
import { encodeFirstHardState, encodePosition, hardStateKey, previousPointerKey, witnessKey, entryKey } from '../../../../src/kernel/consensus-log/store-layout.ts'
import { type LogPosition } from '../../../../src/kernel/consensus-log/log-entry.ts'
import { readStore } from '../../../../src/plugins/coordination-single/io/store-reader.ts'
import { WitnessFile } from '../../../../src/plugins/coordination-single/io/witness-file.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { enumerateCrashes } from '../../../../src/testkit/world/crash-enumeration.ts'
import { LogKeyValueEngine } from '../../../../src/testkit/world/log-key-value-engine.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { clusterId, voterWorld } from './voter-world.ts'

const fatal = { fatal: (error: unknown) => { throw error } }

/** Large commands are dear to compare byte by byte. */
const digests = (commands: readonly Uint8Array[]): string[] => commands.map((bytes) => `${bytes.length} ${crc32c(bytes)}`)

const command = (name: string, bytes: number): Uint8Array => new Uint8Array(bytes).fill(name.charCodeAt(0), 0, bytes)

/** What was promised at some moment. */
interface Promised {
  readonly acknowledged: number
  readonly term: number
}

async function boot(files: MemoryFileSystem, onFatal = fatal) {
  const options = { nodeId: 1, clusterId, path: '/meta', snapshotEntries: 4, snapshotBytes: 200_000, reserveBytes: 0 }
  const voter = new SingleVoter(options, voterWorld(new LogKeyValueEngine(files), onFatal, files))
  const machine = new NotedMachine()
  await voter.start()
  await voter.open(machine)
  return { voter, machine }
}

/** Several lives, commands one by one and some at once, enough for several snapshots, one of them of several pieces. */
class Workload {
  readonly sent: Uint8Array[] = []
  promised: Promised

  constructor(promised: Promised = { acknowledged: 0, term: 0 }, sent: readonly Uint8Array[] = []) {
    this.sent.push(...sent)
    this.promised = promised
  }

  async life(files: MemoryFileSystem, script: (append: (each: Uint8Array) => Promise<void>) => Promise<void>): Promise<void> {
    const { voter, machine } = await boot(files)
    this.promised = { ...this.promised, term: machine.ledTerm }
    await script(async (each) => {
      this.sent.push(each)
      await voter.append([each])
      this.promised = { ...this.promised, acknowledged: this.promised.acknowledged + 1 }
    })
    await voter.stop()
  }

  async run(files: MemoryFileSystem): Promise<void> {
    await this.life(files, async (append) => {
      for (const name of ['a', 'b', 'c']) await append(command(name, 3))
      await Promise.all(['d', 'e', 'f', 'g', 'h'].map((name) => append(command(name, 5))))
    })
    await this.life(files, async (append) => {
      await append(command('i', 70_000))
      for (const name of ['j', 'k', 'l', 'm']) await append(command(name, 1))
    })
  }

  /** All that was promised is there, nothing that was not sent, in a term that was never had; and it goes on from there. */
  async check(files: MemoryFileSystem, { acknowledged, term }: Promised): Promise<void> {
    const { voter, machine } = await boot(files)
    expect(machine.commands.length).toBeGreaterThanOrEqual(acknowledged)
    expect(digests(machine.commands)).toEqual(digests(this.sent.slice(0, machine.commands.length)))
    expect(machine.ledTerm).toBeGreaterThan(term)
    await voter.append([command('z', 2)])
    await voter.stop()
    const again = await boot(files)
    expect(digests(again.machine.commands)).toEqual(digests(machine.commands))
    await again.voter.stop()
  }
}

const enumerate = (files: MemoryFileSystem, workload: Workload, run: () => Promise<void>) => enumerateCrashes({
  files, run, random: 3, most: 12, note: () => workload.promised, check: (left, { noted }) => workload.check(left, noted as Promised),
})

/** How many entries a store has that is one write ahead of its witness. */
async function entriesWhenAhead(files: MemoryFileSystem): Promise<number | undefined> {
  if (files.stat('/meta/witness.dat') === undefined) return undefined
  const store = await new LogKeyValueEngine(files).open('/meta/log')
  const { state, last } = await readStore(store, '/meta')
  await store.close()
  if (state?.format !== 2) return undefined
  return state.value.sequence === new WitnessFile(files, '/meta').read()!.newest!.sequence + 1 ? last.index : undefined
}

/** Makes a store what the releases before format 2 left: a hard state of two numbers, and a second store as the witness. */
async function toFirstFormat(files: MemoryFileSystem, seen: (last: LogPosition) => LogPosition | undefined = (last) => last): Promise<void> {
  const engine = new LogKeyValueEngine(files)
  const store = await engine.open('/meta/log')
  const { last, state, pointer } = await readStore(store, '/meta')
  const term = state!.value.term
  const old = Array.from({ length: pointer?.index ?? 0 }, (_, index) => ({ key: entryKey(index + 1), value: undefined }))
  await store.write([{ key: hardStateKey, value: encodeFirstHardState({ nodeId: 1, term }) }, { key: previousPointerKey, value: undefined }, ...old], { sync: true })
  await store.close()
  files.remove('/meta/witness.dat')
  files.syncDirectory('/meta')
  const witness = await engine.open('/meta/witness')
  const position = seen(last)
  if (position !== undefined) await witness.write([{ key: witnessKey, value: encodePosition(position) }], { sync: true })
  await witness.close()
}

describe('a power cut between any two steps', () => {
  it('of lives of a voter takes nothing that was acknowledged, and no term', async () => {
    const files = new MemoryFileSystem()
    const workload = new Workload()
    const { moments, images } = await enumerate(files, workload, () => workload.run(files))
    expect(moments).toBeGreaterThan(60)
    expect(images).toBeGreaterThan(200)
  })

  it('of a start that finds its store ahead of the witness takes nothing either', async () => {
    const files = new MemoryFileSystem()
    const workload = new Workload()
    const ahead: { readonly left: MemoryFileSystem, readonly promised: Promised, readonly entries: number }[] = []
    await enumerateCrashes({
      files, run: () => workload.run(files), random: 3, most: 12, note: () => workload.promised,
      check: async (left, { noted }) => {
        const entries = await entriesWhenAhead(left)
        if (entries !== undefined) ahead.push({ left, promised: noted as Promised, entries })
      },
    })
    expect(ahead.length).toBeGreaterThan(20)
    for (const { left, promised, entries } of ahead.filter((_, index) => index % 30 === 0)) {
      const second = new Workload(promised, workload.sent.slice(0, entries))
      await enumerate(left, second, () => second.life(left, (append) => append(command('o', 9))))
    }
  })

  it('of the first start on a store of format 1 leaves one that the next start takes, with all that was acknowledged', async () => {
    const files = new MemoryFileSystem()
    const first = new Workload()
    await first.run(files)
    await toFirstFormat(files)
    const made = files.afterCrash({ keepUnsynced: 'all' })
    const workload = new Workload(first.promised, first.sent)
    const { moments } = await enumerate(made, workload, () => workload.life(made, (append) => append(command('n', 9))))
    expect(moments).toBeGreaterThan(10)
    expect(made.stat('/meta/witness')).toBeUndefined()
    expect(made.stat('/meta/witness.dat')?.bytes).toBe(16384)
  })
})

describe('a store of format 1', () => {
  const upgraded = async (seen?: (last: LogPosition) => LogPosition | undefined): Promise<unknown> => {
    const files = new MemoryFileSystem()
    const first = new Workload()
    await first.run(files)
    await toFirstFormat(files, seen)
    return boot(files).then(({ machine }) => machine.commands.length, (error: unknown) => error)
  }

  it('is taken when its old witness says so, also when the last write had no answer', async () => {
    expect(await upgraded()).toBe(13)
    expect(await upgraded((last) => ({ index: last.index - 1, term: last.term, chain: 0 }))).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT' })
  })

  it('that is behind its old witness, or has none, is refused', async () => {
    expect(await upgraded((last) => ({ ...last, index: last.index + 1 }))).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { index: 14 } })
    expect(await upgraded(() => undefined)).toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT', details: { reason: expect.stringContaining('is gone') } })
  })
})

describe.each(['keep', 'some', 'drop'] as const)('a sync of the witness that failed, its blocks counted as written (%s)', (blocks) => {
  it.each([0, 1])('a kill, a start, %i commands and a power cut later takes nothing that had an answer', async (later) => {
    const files = new MemoryFileSystem()
    const work = new Workload()
    const failures: unknown[] = []
    const dying = await boot(files, { fatal: ((error: unknown) => { failures.push(error) }) as typeof fatal.fatal })
    for (const name of ['a', 'b', 'c']) await dying.voter.append([command(name, 3)])
    files.faults.add({ operation: 'sync', path: /witness\.dat$/, error: 'EIO', times: 1, blocks })
    await dying.voter.append([command('d', 3)]).catch(() => {})
    expect(failures).toHaveLength(1)
    const killed = files.afterCrash({ keepUnsynced: 'all' })
    const heir = await boot(killed)
    const term = heir.machine.ledTerm
    for (let index = 0; index < later; index++) await heir.voter.append([command('e', 3)])
    work.sent.push(...['a', 'b', 'c', 'd', ...later === 1 ? ['e'] : []].map((name) => command(name, 3)))
    await work.check(killed.afterCrash({ keepUnsynced: 'none' }), { acknowledged: 3 + later, term })
  })
})
