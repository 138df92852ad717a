import { Control } from '../control.ts'
import { runProgram } from '../process.ts'
import { type ClientKind, type ConsumeWishes } from './client-kinds.ts'
import { Ledger } from './ledger.ts'
import { type Line } from './lines.ts'
import { LineProgram, until } from './member.ts'

const partitions = 6
const seekBack = 20
const oldRecords = 10
const hourMs = 3_600_000
const pauseMs = 50

export interface ClientScenario {
  readonly bootstrap: string
  /** Of topic and groups: its own. */
  readonly name: string
  /** Three: the first two come, the third joins, the second leaves. */
  readonly kinds: readonly ClientKind[]
  readonly wishes?: ConsumeWishes
  /** Kills the broker and starts it again on its directory; undefined where it is somebody else's. */
  readonly restart: (() => Promise<void>) | undefined
}

/** What a client's own producer writes, and what was acknowledged to it. */
class ClientLoad {
  acknowledged = 0
  /** Behind the last record that was acknowledged, by partition. */
  readonly ends = new Map<number, number>()
  private program: LineProgram | undefined
  private readonly start: (onLine: (line: Line) => void) => LineProgram

  constructor (kind: ClientKind, bootstrap: string, topic: string) {
    this.start = onLine => new LineProgram(kind.produce(bootstrap, topic, partitions), kind.takesCommands, onLine)
  }

  get programs (): readonly LineProgram[] {
    return this.program === undefined ? [] : [this.program]
  }

  run (): void {
    this.program = this.start(({ name, partition, offset }) => {
      if (name !== 'producer_send_success') return
      this.acknowledged++
      this.ends.set(partition!, Math.max(this.ends.get(partition!) ?? 0, offset! + 1))
    })
  }

  async stop (): Promise<void> {
    const program = this.program
    this.program = undefined
    await program?.end()
  }
}

/** The living members of one group by name, with what they said. */
class ClientGroup {
  readonly ledger: Ledger
  readonly members = new Map<string, LineProgram>()
  private readonly scenario: ClientScenario
  private readonly topic: string
  private readonly id: string
  private readonly load: ClientLoad

  constructor (scenario: ClientScenario, topic: string, id: string, load: ClientLoad) {
    this.scenario = scenario
    this.topic = topic
    this.id = id
    this.load = load
    const lateOnes = new Set<string>(scenario.kinds.flatMap((kind, index) => kind.readsLate ? [memberName(kind, index)] : []))
    this.ledger = new Ledger(member => lateOnes.has(member))
  }

  add (index: number, wishes: ConsumeWishes): string {
    const kind = this.scenario.kinds[index]!
    const name = memberName(kind, index)
    const program = new LineProgram(kind.consume(this.scenario.bootstrap, this.topic, this.id, wishes), kind.takesCommands, (line, atMs) => this.ledger.take(name, line, atMs))
    this.members.set(name, program)
    return name
  }

  async leave (name: string): Promise<void> {
    const program = this.members.get(name)!
    this.members.delete(name)
    await program.end()
    this.ledger.gone(name, Date.now())
  }

  until (what: string, isSo: () => boolean): Promise<void> {
    const state = (): string => [
      `members have ${[...this.members.keys()].map(name => `${name} [${[...this.ledger.owned(name)].join()}]`).join(', ')}`,
      `not read: ${this.ledger.missing(this.load.ends).join(', ')}; committed: ${entries(this.ledger.committed)}; ends: ${entries(this.load.ends)}`,
      ...this.ledger.faults.slice(0, 3), ...[...this.members.values()].map(({ errors }) => errors.slice(-300)),
    ].join('\n')
    return until(what, isSo, () => [...this.members.values(), ...this.load.programs], state)
  }

  /** Every partition has an owner, and each member its share. */
  shared (): boolean {
    const shares = [...this.members.keys()].map(name => this.ledger.owned(name))
    return shares.every(({ size }) => size >= Math.floor(partitions / shares.length)) && new Set(shares.flatMap(share => [...share])).size === partitions
  }

  hasRead (ends: ReadonlyMap<number, number>, from: (partition: number) => number): boolean {
    return this.ledger.missing(ends, from).length === 0
  }

  async leaveAll (): Promise<void> {
    await Promise.all([...this.members.keys()].map(name => this.leave(name)))
  }
}

const memberName = (kind: ClientKind, index: number): string => `${kind.name}#${index + 1}`

function expect (isSo: boolean, otherwise: () => string): void {
  if (!isSo) throw new Error(otherwise())
}

const entries = (map: ReadonlyMap<number, number>): string => [...map].sort(([left], [right]) => left - right).map(([partition, offset]) => `${partition}:${offset}`).join(' ')

/** The offsets that the broker has for a group are the ones that were told. */
async function expectCommitted (bootstrap: string, group: string, topic: string, expected: ReadonlyMap<number, number>): Promise<void> {
  const committed = await Control.with(bootstrap, control => control.committedOffsets(group, topic))
  expect(entries(committed) === entries(expected), () => `the broker has ${entries(committed)} committed, ${entries(expected)} was expected`)
}

/**
 * A group of three clients of one kind, or of three kinds, under load that the first one's producer writes: two come, a third joins, the second leaves, one seeks back, the broker
 * is killed and started again; then a group that starts by time. Says what was counted; throws where a record is lost, is read again though it was committed, or where a partition
 * has two owners.
 */
export async function runClientScenario (scenario: ClientScenario): Promise<string> {
  const { bootstrap, name, kinds, wishes = {}, restart } = scenario
  const topic = `compat-client-group-${name}`
  const main = `client-group-${name}`
  const { program, args, env } = kinds[0]!.createTopic(bootstrap, topic, partitions)
  await runProgram(program, args, { env: { ...env } })
  await Control.with(bootstrap, control => control.produceOld(topic, partitions, oldRecords, Date.now() - hourMs))
  const load = new ClientLoad(kinds[0]!, bootstrap, topic)
  const group = new ClientGroup(scenario, topic, main, load)
  const unclean: [number, number][] = []
  try {
    load.run()
    await joinAndLeave(group, wishes)
    await seekBackOnce(group, kinds)
    const turn = await turnOfTime(load, bootstrap, topic)
    const before = load.acknowledged
    await group.until('records are written again', () => load.acknowledged > before)
    if (restart) {
      const fromMs = Date.now()
      await restart()
      const atRestart = load.acknowledged
      await group.until('records are written after the restart', () => load.acknowledged > atRestart + 100)
      await group.until('all partitions have an owner after the restart', () => group.shared())
      unclean.push([fromMs, Date.now()])
    }
    await load.stop()
    await group.until('all is read and committed', () => group.hasRead(load.ends, () => 0) && [...load.ends].every(([partition, end]) => (group.ledger.committed.get(partition) ?? 0) >= end))
    await expectCommitted(bootstrap, main, topic, group.ledger.committed)
    await group.leaveAll()
    await expectCommitted(bootstrap, main, topic, group.ledger.committed)
    const byTime = await startByTime(scenario, topic, load, turn)
    const faults = [...group.ledger.faults, ...group.ledger.overlaps(unclean)]
    expect(faults.length === 0, () => faults.slice(0, 6).join('\n'))
    return [`${load.acknowledged} records acknowledged`, `${group.ledger.again} read again`, ...group.ledger.askedAgain > 0 ? [`${group.ledger.askedAgain} after seeking`] : ['no seek'],
      ...group.ledger.late > 0 ? [`${group.ledger.late} after they were taken away`] : [], byTime].join(', ')
  } finally {
    await load.stop()
    await group.leaveAll()
  }
}

async function joinAndLeave (group: ClientGroup, wishes: ConsumeWishes): Promise<void> {
  group.add(0, wishes)
  await group.until('the first member has all', () => group.shared())
  const second = group.add(1, wishes)
  await group.until('two members share', () => group.shared())
  group.add(2, wishes)
  await group.until('three members share', () => group.shared())
  await group.leave(second)
  await group.until('the others have what the second had', () => group.shared())
}

/** The first member that can, reads the last records of one of its partitions again, while more come. */
async function seekBackOnce (group: ClientGroup, kinds: readonly ClientKind[]): Promise<void> {
  const index = [0, 2].find(each => kinds[each]!.takesCommands)
  if (index === undefined) return
  const { ledger } = group
  const member = memberName(kinds[index]!, index)
  const partition = [...ledger.owned(member)][0]!
  await group.until('there is something to read again', () => (ledger.next(member, partition) ?? 0) > seekBack)
  const from = ledger.next(member, partition)! - seekBack
  group.members.get(member)!.command(`seek ${partition} ${from}`)
  await group.until('the member reads again what it was told to', () => ledger.askedAgain >= seekBack && ledger.end(partition) > from + seekBack)
}

/** A moment at which nothing is written, and where the partitions end then. */
async function turnOfTime (load: ClientLoad, bootstrap: string, topic: string): Promise<{ atMs: number, ends: ReadonlyMap<number, number> }> {
  await load.stop()
  const ends = new Map((await Control.with(bootstrap, control => control.endOffsets(topic))).entries())
  await new Promise(resolve => setTimeout(resolve, pauseMs))
  const atMs = Date.now()
  await new Promise(resolve => setTimeout(resolve, pauseMs))
  load.run()
  return { atMs, ends }
}

/** One member of a new group reads from a time on, each record once; the group has nothing committed until the member is told to. */
async function startByTime (scenario: ClientScenario, topic: string, load: ClientLoad, turn: { atMs: number, ends: ReadonlyMap<number, number> }): Promise<string> {
  const { bootstrap, kinds, name } = scenario
  const kind = kinds[0]!
  const id = `client-group-${name}-time`
  const starts = kind.startsByDuration ? new Map([...load.ends.keys()].map(partition => [partition, oldRecords])) : turn.ends
  const group = new ClientGroup({ ...scenario, kinds: [kind] }, topic, id, load)
  try {
    const member = group.add(0, { ...scenario.wishes, fromMs: kind.startsByDuration ? Date.now() - hourMs / 2 : turn.atMs, commitsByHand: kind.takesCommands })
    await group.until('the group that starts by time has read all', () => group.hasRead(load.ends, partition => starts.get(partition)!))
    const began = [...load.ends.keys()].filter(partition => group.ledger.began.get(partition) !== starts.get(partition))
    expect(began.length === 0, () => `a group that starts by time begins at ${entries(group.ledger.began)}, at ${entries(starts)} was expected`)
    if (kind.takesCommands) {
      await expectCommitted(bootstrap, id, topic, new Map())
      group.members.get(member)!.command('commit')
    }
    await group.until('what was read from the time on is committed', () => [...load.ends].every(([partition, end]) => (group.ledger.committed.get(partition) ?? 0) >= end))
    await group.leaveAll()
    await expectCommitted(bootstrap, id, topic, group.ledger.committed)
    const faults = [...group.ledger.faults, ...group.ledger.again > 0 ? [`${group.ledger.again} records were read again by the group that starts by time`] : []]
    expect(faults.length === 0, () => faults.slice(0, 6).join('\n'))
    return kind.startsByDuration ? 'started by duration' : 'started by time'
  } finally {
    await group.leaveAll()
  }
}
