import { BytesReader } from '../../base/bytes-reader.ts'
import { BytesWriter } from '../../base/bytes-writer.ts'
import { type Consensus, type ReplicatedMachine } from '../../kernel/ports/consensus.ts'
import { check, checkEqual, checkRejects, type DeclareTest } from './kit.ts'

/** A consensus of its own for one test. */
export interface ConsensusSubject {
  /** Started and not opened, able to lead alone or with others that the subject keeps running. */
  readonly consensus: Consensus
  /** Stops it in order and gives a started one on what it left. */
  restart(): Promise<ConsensusSubject>
  stop(): Promise<void>
  dispose?(): Promise<void>
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface ConsensusConformance {
  readonly test: DeclareTest
  /** Snapshots should be made after a few commands, so that the claims about restarts cover them. */
  readonly create: () => Promise<ConsensusSubject>
}

/** Keeps every command that it was given, with all that the contract says about the calls checked. */
export class NotedMachine implements ReplicatedMachine {
  commands: Uint8Array[] = []
  readonly events: string[] = []
  lastIndex = 0
  lastTerm = 0
  ledTerm = 0
  restores = 0

  restore(index: number, snapshot: Uint8Array | undefined): void {
    check((index === 0) === (snapshot === undefined), 'a snapshot stands for an index above 0')
    this.restores++
    this.lastIndex = index
    this.commands = snapshot === undefined ? [] : decodeCommands(snapshot)
  }

  apply(index: number, term: number, command: Uint8Array): void {
    check(this.restores > 0, 'restore comes before apply')
    check(index > this.lastIndex, `indexes rise: ${index} after ${this.lastIndex}`)
    check(term >= this.lastTerm, 'terms never go back')
    this.lastIndex = index
    this.lastTerm = term
    this.commands.push(command.slice())
  }

  snapshot(): Uint8Array {
    const writer = new BytesWriter()
    for (const command of this.commands) {
      writer.uvarint(command.length)
      writer.raw(command)
    }
    return writer.finish()
  }

  led(term: number): void {
    check(term > this.ledTerm, 'a term is led once')
    this.ledTerm = term
    this.events.push(`led after ${this.commands.length}`)
  }

  lost(): void {
    this.events.push('lost')
  }
}

function decodeCommands(snapshot: Uint8Array): Uint8Array[] {
  const reader = new BytesReader(snapshot)
  const commands: Uint8Array[] = []
  while (reader.remaining > 0) commands.push(reader.slice(reader.uvarint()).slice())
  return commands
}

interface Claim {
  readonly title: string
  readonly body: (run: Run) => Promise<void>
}

/** One subject through its restarts. */
class Run {
  subject: ConsensusSubject
  machine = new NotedMachine()

  constructor(subject: ConsensusSubject) {
    this.subject = subject
  }

  get consensus(): Consensus {
    return this.subject.consensus
  }

  async open(): Promise<void> {
    this.machine = new NotedMachine()
    await this.consensus.open(this.machine)
  }

  async restart(): Promise<void> {
    this.subject = await this.subject.restart()
    await this.open()
  }
}

const command = (text: string): Uint8Array => Uint8Array.from(text, character => character.charCodeAt(0))
const texts = (machine: NotedMachine): string[] => machine.commands.map(bytes => String.fromCharCode(...bytes))
const numbered = (count: number, prefix = 'c'): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`)
const claim = (title: string, body: Claim['body']): Claim => ({ title, body })

const claims: readonly Claim[] = [
  claim('before it is open it appends nothing, afterwards it leads an empty log', async (run) => {
    await checkRejects('MR_CLUSTER_NOT_CONTROLLER', run.consensus.append([command('early')]), 'append before open')
    checkEqual(run.consensus.status().leaderId, undefined, 'leader before open')
    await run.open()
    checkEqual(run.machine.events, ['led after 0'], 'events')
    const { nodeId, leaderId, lastIndex, commitIndex, appliedIndex, term, voters } = run.consensus.status()
    checkEqual(leaderId, nodeId, 'leader')
    check(lastIndex === commitIndex && commitIndex === appliedIndex, 'nothing is pending')
    check(term === run.machine.ledTerm && term > 0, 'the term is the one that is led')
    check(voters.includes(nodeId), 'it is a voter')
  }),
  claim('an append resolves when its commands are applied, with the index of the last', async (run) => {
    await run.open()
    const first = await run.consensus.append([command('a')])
    checkEqual([texts(run.machine), run.machine.lastIndex], [['a'], first], 'applied')
    const second = await run.consensus.append([command('b'), command('c')])
    checkEqual([texts(run.machine), run.machine.lastIndex], [['a', 'b', 'c'], second], 'applied')
    check(second > first, 'indexes rise')
    checkEqual(run.consensus.status().appliedIndex, second, 'applied index')
  }),
  claim('appends that are made at once are applied in the order of the calls, each once', async (run) => {
    await run.open()
    const expected = numbered(200)
    const indexes = await Promise.all(expected.map(text => run.consensus.append([command(text)])))
    checkEqual(texts(run.machine), expected, 'order')
    checkEqual(indexes, [...indexes].sort((left, right) => left - right), 'indexes')
    checkEqual(new Set(indexes).size, indexes.length, 'distinct indexes')
  }),
  claim('the bytes of a command are the caller\'s again when append has returned', async (run) => {
    await run.open()
    const bytes = command('mine')
    const appended = run.consensus.append([bytes])
    bytes.fill(0)
    await appended
    checkEqual(texts(run.machine), ['mine'], 'applied')
  }),
  claim('a barrier resolves after everything that was appended before it is applied', async (run) => {
    await run.open()
    await run.consensus.barrier()
    const appends = numbered(20).map(text => run.consensus.append([command(text)]))
    await run.consensus.barrier()
    checkEqual(texts(run.machine).length, 20, 'applied at the barrier')
    await Promise.all(appends)
  }),
  claim('a restart brings back every command that was acknowledged, in order, through any number of snapshots', async (run) => {
    await run.open()
    const expected: string[] = []
    for (let round = 0; round < 8; round++) {
      for (const text of numbered(round * 3, `r${round}-`)) {
        await run.consensus.append([command(text)])
        expected.push(text)
      }
      const before = run.machine
      await run.restart()
      checkEqual(texts(run.machine), expected, `after restart ${round}`)
      checkEqual(run.machine.snapshot(), before.snapshot(), 'the snapshot is the same')
      checkEqual(run.machine.lastIndex, before.lastIndex, 'the index is the same')
      checkEqual(run.machine.events, [`led after ${expected.length}`], 'it leads when all is applied')
    }
  }),
  claim('each start leads in a larger term, though nothing was appended', async (run) => {
    await run.open()
    const terms = [run.machine.ledTerm]
    for (let count = 0; count < 3; count++) {
      await run.restart()
      terms.push(run.machine.ledTerm)
    }
    checkEqual(terms, [...new Set(terms)].sort((left, right) => left - right), 'terms')
  }),
  claim('commands of no bytes and of many come back as they were', async (run) => {
    await run.open()
    const large = new Uint8Array(1_500_000).map((_, index) => index * 31)
    await run.consensus.append([new Uint8Array(0), large, command('after')])
    await run.restart()
    checkEqual(run.machine.commands.map(bytes => bytes.length), [0, large.length, 5], 'lengths')
    checkEqual(run.machine.commands[1], large, 'bytes')
  }),
  claim('a stop finishes what was appended, and refuses what comes after with MR_CLUSTER_STOPPED', async (run) => {
    await run.open()
    const appended = run.consensus.append([command('last')])
    const stopped = run.subject.stop()
    await checkRejects('MR_CLUSTER_STOPPED', run.consensus.append([command('late')]), 'append while it stops')
    await checkRejects('MR_CLUSTER_STOPPED', run.consensus.barrier(), 'barrier while it stops')
    await appended
    await stopped
    await checkRejects('MR_CLUSTER_STOPPED', run.consensus.append([command('later')]), 'append when it is stopped')
    await run.subject.stop()
    await run.restart()
    checkEqual(texts(run.machine), ['last'], 'after the restart')
  }),
]

/** What a consensus promises (kernel/ports/consensus), as tests. */
export function consensusConformance({ test, create }: ConsensusConformance): void {
  for (const { title, body } of claims) {
    test(title, async () => {
      const run = new Run(await create())
      try {
        await body(run)
      } finally {
        await run.subject.stop()
        await run.subject.dispose?.()
      }
    })
  }
}
