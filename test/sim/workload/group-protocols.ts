import { Prng } from '../../../src/base/prng.ts'
import { type GroupRules } from '../../../src/plugins/coordinator-group/core/group-commands.ts'
import { consumerRules, FakeTopics } from '../../unit/plugins/coordinator-group/fake-topics.ts'
import { faultsOf } from '../checkers/group-histories.ts'
import { ClassicClient } from './classic-client.ts'
import { ConsumerClient } from './consumer-client.ts'
import { groupId, sessionMs, type ClientParts, type GroupClient, type Weather } from './group-client.ts'
import { SimCoordinator, VirtualTime } from './group-coordinator.ts'

export interface GroupRun {
  readonly events: number
  readonly commits: number
  readonly crashes: number
  readonly clients: number
  /** Times that the group was of another protocol than a moment before. */
  readonly migrations: number
  readonly simulatedMs: number
  readonly faults: readonly string[]
}

const chaosMs = 60_000
/** In which everything comes to rest: sessions of those who are gone end, others rebalance. */
const calmMs = 40_000

/**
 * One group in virtual time: clients of both protocols come, go, stop, stand still and come back; messages are lost and repeated; the coordinator crashes and loses the end of its log;
 * topics grow. The history is judged (checkers/group-histories), and at the end everything is read by exactly one member.
 */
export function runGroup(seed: number): GroupRun {
  const run = new Run(seed)
  return run.run()
}

class Run {
  private readonly time = new VirtualTime()
  private readonly prng: Prng
  private readonly topics = new FakeTopics()
  private readonly weather: Weather
  private readonly coordinator: SimCoordinator
  private readonly parts: ClientParts
  private clients: GroupClient[] = []
  private made = 0
  private commits = 0
  private migrations = 0
  /** How often a client is of the consumer protocol. */
  private readonly consumerShare: number
  private readonly eager: boolean
  private calm = false

  constructor(seed: number) {
    const prng = new Prng(seed)
    this.prng = prng
    this.consumerShare = prng.pick([0, 0.5, 0.5, 0.8, 1, 1])
    this.eager = prng.chance(0.5)
    this.weather = { loss: prng.pick([0, 0.01, 0.05]), repeat: prng.pick([0, 0.05]), pause: prng.pick([0, 0.01, 0.04]) }
    this.topics.set('t1', prng.between(1, 6))
    this.topics.set('t2', prng.between(1, 4))
    this.coordinator = new SimCoordinator(this.time, prng, rulesFor(prng), this.topics)
    this.parts = { time: this.time, prng, coordinator: this.coordinator, topics: this.topics, weather: this.weather }
  }

  run(): GroupRun {
    for (let count = this.prng.between(1, 4); count > 0; count--) this.add(null)
    this.disturb(this.prng.pick([1000, 3000, 8000]))
    this.time.runUntil(chaosMs)
    this.calm = true
    Object.assign(this.weather, { loss: 0, repeat: 0, pause: 0 })
    this.time.runUntil(chaosMs + calmMs)
    const faults = [...faultsOf(this.coordinator.history), ...this.unrest()]
    this.commits += this.clients.reduce((sum, { commits }) => sum + commits, 0)
    return {
      events: this.coordinator.history.length, commits: this.commits, crashes: this.coordinator.crashes, clients: this.made, migrations: this.migrations, simulatedMs: this.time.nowMs, faults,
    }
  }

  private add(instanceId: string | null): void {
    const name = `c${++this.made}`
    const isConsumer = this.prng.chance(this.consumerShare)
    const client = isConsumer ? new ConsumerClient(this.parts, name, instanceId) : new ClassicClient(this.parts, name, instanceId, this.eager)
    if (client instanceof ConsumerClient && this.prng.chance(0.2)) client.pattern = 't.*'
    this.clients.push(client)
    client.start()
  }

  /** Something happens, and after a while something else. */
  private disturb(everyMs: number): void {
    let type = this.type
    const look = (): void => {
      if (this.type !== type && this.type !== '' && type !== '') this.migrations++
      type = this.type
    }
    const step = (): void => {
      look()
      if (this.calm) return
      this.act()
      this.time.after(this.prng.between(1, 2 * everyMs), step)
    }
    this.time.after(this.prng.between(1, everyMs), step)
  }

  private act(): void {
    const { prng, clients } = this
    const chosen = clients.length === 0 ? undefined : prng.pick(clients)
    switch (prng.pick(['add', 'add', 'leave', 'kill', 'restart', 'crash', 'grow', 'static'])) {
      case 'add': if (clients.length < 6) this.add(null); break
      case 'static': if (clients.length < 6) this.add(`i${++this.made}`); break
      case 'leave': if (chosen !== undefined) this.end(chosen, () => { chosen.leave() }); break
      case 'kill': if (chosen !== undefined) this.end(chosen, () => { chosen.kill() }); break
      case 'restart':
        if (chosen === undefined) break
        this.end(chosen, () => { chosen.leave() })
        this.time.after(prng.between(1, 3000), () => { if (!this.calm) this.add(chosen.instanceId) })
        break
      case 'crash': this.coordinator.crash(); break
      case 'grow': {
        const topic = prng.pick(['t1', 't2', 't3'])
        const partitions = this.topics.byName(topic)?.partitions ?? 0
        if (partitions < 8) this.topics.set(topic, partitions + 1)
      }
    }
  }

  private end(client: GroupClient, how: () => void): void {
    this.clients = this.clients.filter((each) => each !== client)
    this.commits += client.commits
    how()
  }

  private get type(): string {
    const { machine } = this.coordinator
    return machine.consumers.groups.has(groupId) ? 'consumer' : machine.groups.has(groupId) ? 'classic' : ''
  }

  /** What is not as it should be when everything has come to rest. */
  private unrest(): string[] {
    const living = this.clients.filter(({ stopped }) => !stopped)
    const readers = new Map<string, number>()
    for (const { reads } of living) for (const partition of reads.keys()) readers.set(partition, (readers.get(partition) ?? 0) + 1)
    const faults = [...readers].filter(([, count]) => count > 1).map(([partition, count]) => `${partition} has ${count} readers at the end`)
    const topics = living.length === 0 ? [] : ['t1', 't2']
    for (const topic of topics) {
      for (let partition = 0; partition < this.topics.byName(topic)!.partitions; partition++) if (!readers.has(`${topic}-${partition}`)) faults.push(`${topic}-${partition} has no reader at the end`)
    }
    const [before, after] = [this.coordinator.machine, this.coordinator.reloaded()].map(({ consumers, offsets }) => [
      ...Array.from(consumers.groups.values(), ({ epoch, assignmentEpoch, metadataHash, members, targets }) =>
        JSON.stringify([epoch, assignmentEpoch, metadataHash, Array.from(members.values(), ({ about, current }) => [Object.entries(about).sort(), current.epoch, current.state, [...current.assigned], [...current.revoking]]), [...targets].sort()])),
      JSON.stringify([...offsets.of(groupId)].sort()),
    ])
    if (before!.join('\n') !== after!.join('\n')) faults.push('the records say something else than the machine')
    return faults
  }
}

function rulesFor(prng: Prng): GroupRules {
  return {
    initialRebalanceDelayMs: prng.pick([0, 300]), sessionTimeoutMinMs: 1000, sessionTimeoutMaxMs: 60_000, groupSizeMax: 100, offsetMetadataBytesMax: 100, offsetsRetentionMs: 1e9, retentionCheckIntervalMs: 1e9,
    consumer: {
      ...consumerRules, sessionTimeoutMs: sessionMs, groupSizeMax: 100, assignmentIntervalMs: prng.pick([0, 0, 1000]), assignors: prng.pick([['uniform', 'range'], ['range']]),
      canUpgrade: true, canDowngrade: prng.chance(0.8),
    },
  }
}
