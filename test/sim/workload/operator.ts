import { type Prng } from '../../../src/base/prng.ts'
import { type FileSystem } from '../../../src/kernel/ports/file-system.ts'
import { type FileImage, Violation } from '../history.ts'
import { type Audit } from './audit.ts'
import { type Operation, type Stage } from './stage.ts'

/** Starts, stops, kills and unplugs the broker, and spoils network and clocks. One at a time. */
export class Operator {
  readonly operations: readonly Operation[]
  private readonly stage: Stage
  private readonly prng: Prng
  private readonly machines: readonly string[]
  private readonly audit: Audit
  /** This life began on what a power cut left, and no start had come to its end since. */
  private torn = false
  private started = true

  constructor(stage: Stage, prng: Prng, machines: readonly string[], audit: Audit) {
    this.stage = stage
    this.prng = prng
    this.machines = machines
    this.audit = audit
    this.operations = [
      { name: 'broker stopped', weight: 3, run: () => this.stop() },
      { name: 'broker killed', weight: 6, run: () => this.crash('kill') },
      { name: 'power cut', weight: 8, run: () => this.crash('power') },
      { name: 'recovered twice', weight: 3, run: () => this.recoverTwice() },
      { name: 'broker paused', weight: 3, run: () => Promise.resolve(this.stage.sim.machine.pause(prng.between(10, 2500))) },
      { name: 'connections reset', weight: 4, run: () => Promise.resolve(void this.network.reset(prng.pick([...machines, 'broker']))) },
      { name: 'machine cut off', weight: 5, run: () => this.cutOff() },
      { name: 'clock stepped', weight: 2, run: () => Promise.resolve(this.stepClock()) },
      { name: 'audited', weight: 1, run: () => Promise.resolve() },
    ]
  }

  /** Ends before the others: `audit` waits for them. */
  async act(): Promise<void> {
    const { stage, prng } = this
    while (stage.left > 0) {
      await stage.sim.world.sleep(prng.float() * 700)
      let at = prng.float() * this.operations.reduce((sum, { weight }) => sum + weight, 0)
      const operation = this.operations.find(({ weight }) => (at -= weight) < 0)!
      stage.count(operation.name)
      stage.left--
      if (operation.name === 'audited') await this.runAudit()
      else await operation.run()
    }
    await this.runAudit()
  }

  /** While nobody else does anything, and after what is under way has come to rest. */
  runAudit(): Promise<void> {
    return this.stage.alone(async () => {
      this.network.heal()
      await this.stage.sim.world.sleep(3000)
      await this.audit.run()
    })
  }

  private get network() {
    return this.stage.sim.world.network
  }

  private async stop(): Promise<void> {
    const { sim, history } = this.stage
    const troubles = await sim.stop()
    if (troubles.length > 0) throw new Violation(`the broker did not stop in order: ${troubles.map(String).join('; ')}`)
    this.checkLog()
    this.torn = false
    history.add({ kind: 'ended', how: 'stop' })
    await this.startAgain()
  }

  private async crash(how: 'kill' | 'power'): Promise<void> {
    this.end(how)
    // Sometimes it is ended again while it recovers.
    while (this.prng.chance(0.3)) {
      const { sim } = this.stage
      await sim.world.sleep(this.prng.float() * 100)
      void sim.start()
      await sim.world.sleep(this.prng.float() * 20)
      this.end(how)
    }
    await this.startAgain()
  }

  private async recoverTwice(): Promise<void> {
    const { sim, history, topics } = this.stage
    const how = this.prng.pick(['kill', 'power'] as const)
    // What retention takes, and topics that are being deleted, go without waiting for the disk.
    const kept = topics.all().filter(topic => !topic.trimmed && !topic.doomed).map(topic => topic.name)
    const synced = imageOf(sim.machine.process.files.afterCrash({ keepUnsynced: 'none' }), kept)
    this.network.isolate('broker')
    this.end(how)
    await this.start()
    const first = imageOf(sim.machine.process.files)
    this.end('kill')
    await this.start()
    const second = imageOf(sim.machine.process.files)
    history.add({ kind: 'recovered', synced, first, second })
    this.network.heal()
  }

  private end(how: 'kill' | 'power'): void {
    const { sim, history, topics } = this.stage
    this.checkLog()
    if (how === 'kill') sim.kill()
    else sim.powerCut()
    this.torn = how === 'power' || (this.torn && !this.started)
    this.started = false
    history.add({ kind: 'ended', how })
    if (how === 'power') topics.cut()
  }

  private async startAgain(): Promise<void> {
    const { sim } = this.stage
    await sim.world.sleep(this.prng.float() * 800)
    await this.start()
  }

  private async start(): Promise<void> {
    await this.stage.sim.start()
    this.started = true
  }

  /**
   * A broker that nothing is wrong with logs no errors, but of a topic that was being deleted when it was killed, and of blocks behind a hole
   * that a power cut left in what was not synced.
   */
  private checkLog(): void {
    const { sim, topics } = this.stage
    const live = new Set(topics.all().filter(topic => !topic.doomed).map(topic => topic.id))
    const errors = sim.logLines.filter(line => /"level":"(error|fatal)"/.test(line))
    const expected = (line: string): boolean => this.torn && line.includes('a log is damaged above its recovery point')
    const unexpected = errors.filter(line => !expected(line)).filter(line => !line.includes('it is set aside') || live.has((JSON.parse(line) as { topicId: string }).topicId))
    if (unexpected.length > 0) throw new Violation(`the broker logged errors:\n${unexpected.join('')}`)
  }

  private async cutOff(): Promise<void> {
    const machine = this.prng.pick(this.machines)
    const ways = this.prng.below(3)
    if (ways !== 1) this.network.cutOneWay(machine, 'broker')
    if (ways !== 0) this.network.cutOneWay('broker', machine)
    await this.stage.sim.world.sleep(this.prng.float() * 4000)
    this.network.heal(machine, 'broker')
  }

  private stepClock(): void {
    const { clock } = this.stage.sim.machine
    clock.offsetMs = this.prng.chance(0.5) ? 0 : this.prng.between(-3_600_000, 600_000)
  }
}

/** What the partitions' files hold; of the topics named, or of all. */
function imageOf(files: FileSystem, topics?: readonly string[]): FileImage {
  const image = new Map<string, Uint8Array>()
  for (const directory of files.list('/data')) {
    const topic = /^(.+)-\d+$/.exec(directory)?.[1]
    if (topic === undefined || directory.startsWith('.') || topics?.includes(topic) === false) continue
    for (const name of files.list(`/data/${directory}`)) {
      const path = `/data/${directory}/${name}`
      if (/\.(deleted|tmp)$/.test(name) || files.stat(path)?.kind !== 'file') continue
      const file = files.open(path, 'read')
      const bytes = new Uint8Array(file.size())
      file.read(bytes, 0, bytes.length, 0)
      file.close()
      image.set(path, bytes)
    }
  }
  return image
}
