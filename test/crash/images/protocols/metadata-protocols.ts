import { Prng } from '../../../../src/base/prng.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { keepCrashMoments, SeededRandom } from '../../../../src/testkit/index.ts'
import { LogKeyValueEngine } from '../../../../src/testkit/world/log-key-value-engine.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { clusterId, voterWorld } from '../../../unit/plugins/coordination-single/voter-world.ts'
import { type CrashProtocol, type Recovery } from '../crash-protocol.ts'

/** What was answered at some moment. */
interface Answered {
  /** Commands that an append was acknowledged of; more may be there. */
  readonly acknowledged: number
  /** Commands that were sent, in order. */
  readonly sent: readonly Uint8Array[]
  readonly term: number
}

const options = { nodeId: 1, clusterId, path: '/meta', snapshotEntries: 4, snapshotBytes: 20_000, reserveBytes: 0 }
const fatal = { fatal: (error: unknown) => { throw error } }

async function boot(files: MemoryFileSystem): Promise<{ voter: SingleVoter, machine: NotedMachine }> {
  const voter = new SingleVoter(options, voterWorld(new LogKeyValueEngine(files), fatal, files))
  const machine = new NotedMachine()
  await voter.start()
  await voter.open(machine)
  return { voter, machine }
}

const isEqual = (left: Uint8Array, right: Uint8Array | undefined): boolean => right !== undefined && Buffer.compare(left, right) === 0

/** All that was acknowledged is there, nothing that was not sent, in a term that was never had; another start finds the same. */
async function check(files: MemoryFileSystem, { acknowledged, sent, term }: Answered, number: number): Promise<Recovery> {
  const { voter, machine } = await boot(files)
  const { commands } = machine
  if (commands.length < acknowledged) throw new Error(`${commands.length} commands are left of ${acknowledged} that were acknowledged`)
  commands.forEach((command, index) => { if (!isEqual(command, sent[index])) throw new Error(`command ${index + 1} is none that was sent there`) })
  if (machine.ledTerm <= term) throw new Error(`it leads in term ${machine.ledTerm}, and did so in ${term} before`)
  if (number % 2 === 0) await voter.append([new Uint8Array(3)])
  const before = [...commands]
  // Dead, not stopped.
  const again = await boot(files.afterCrash({ keepUnsynced: number % 3 === 0 ? 'all' : 'none' }))
  if (again.machine.commands.length !== before.length) throw new Error(`another start finds ${again.machine.commands.length} commands, and there were ${before.length}`)
  before.forEach((command, index) => { if (!isEqual(command, again.machine.commands[index])) throw new Error(`another start changes command ${index + 1}`) })
  return 'recovered'
}

/** Lives of a voter, each with commands one by one and several at once, with snapshots now and then. */
function metadataProtocol(name: string, lives: number, isCutBefore: boolean): CrashProtocol {
  return {
    name,
    async play(seed, spoil) {
      const prng = new Prng(seed)
      let files = new MemoryFileSystem({ names: seed % 2 === 0 ? 'ordered' : 'each' })
      spoil?.(files)
      let answered: Answered = { acknowledged: 0, sent: [], term: 0 }
      const append = async (voter: SingleVoter): Promise<void> => {
        const command = prng.bytes(prng.chance(0.1) ? 9000 : prng.between(1, 40))
        answered = { ...answered, sent: [...answered.sent, command] }
        await voter.append([command])
        answered = { ...answered, acknowledged: answered.acknowledged + 1 }
      }
      const life = async (): Promise<void> => {
        const { voter, machine } = await boot(files)
        // What an earlier life had sent and nobody heard of may be there; what is not will never be.
        answered = { sent: answered.sent.slice(0, machine.commands.length), acknowledged: machine.commands.length, term: machine.ledTerm }
        for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: prng.pick([1, 1, 3]) }, () => append(voter)))
        await voter.stop()
      }
      if (isCutBefore) {
        await life()
        files = files.afterCrash({ keepUnsynced: new SeededRandom(seed) })
        spoil?.(files)
      }
      const moments = await keepCrashMoments({ files, run: async () => { for (let count = 0; count < lives; count++) await life() }, note: () => answered })
      return moments.map(({ step, noted, moment }) => ({
        step, promised: noted,
        *cases(bounds) {
          for (const { what, files: left } of moment.images(bounds)) {
            yield { what, digest: left.contentDigest(), check: (number: number) => check(left, noted as Answered, number) }
          }
        },
      }))
    },
  }
}

export const metadata: readonly CrashProtocol[] = [
  metadataProtocol('metadata and its witness', 1, false),
  metadataProtocol('metadata, start after a power cut', 1, true),
]
