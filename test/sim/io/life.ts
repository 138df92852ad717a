import { createSimBroker, type SimBroker } from '../../../src/harness/index.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { LogStore } from '../../../src/kernel/ports/log-store.ts'
import { type PartitionLog } from '../../../src/kernel/ports/partition-log.ts'
import { makeBatch } from '../../../src/testkit/conformance/log-store-subject.ts'
import { type FileOperationKind } from '../../../src/testkit/world/file-faults.ts'
import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { deletedTo, directories, directoryOf, diskBytes, optionsWith, phases, takesSpace, underwayMs, type Acknowledged, type Disks, type Injection, type Left, type Phase } from './setting.ts'
import { type SiteTracer } from './site-tracer.ts'
import { put, wreck } from './wreck.ts'

/** One broker on two data directories from its first start through a life of everything that it does with files, in which one call site fails. */
export class Life {
  /** Calls that were made to fail. */
  failures = 0
  readonly refused: string[] = []
  readonly violations: string[] = []
  startError: string | undefined
  stopTroubles: string[] = []
  ended = false
  readonly offline = new Set<string>()
  /** Names of the call sites by phase, of a life without an injection. */
  readonly reached = new Map<Phase, Set<string>>()
  /** Those that were seen to take space. */
  readonly takingSpace = new Set<string>()
  readonly lines: string[] = []
  leftClean: boolean | undefined
  /** Logs that were found damaged. */
  get fenced(): number {
    return this.lines.filter(line => line.includes('a log is damaged and not served')).length
  }

  private readonly sim: SimBroker
  private readonly tracer: SiteTracer
  private readonly injection: Injection | undefined
  private readonly acknowledged: Acknowledged[] = []
  private readonly until: Phase
  private readonly from: Left | undefined
  /** What the disk was like when nothing ran, before these phases. */
  readonly left = new Map<Phase, Left>()
  private phase: Phase | undefined
  private hitsLeft: number
  private directory: string | undefined
  private failedSync: { readonly directory: string, readonly atMs: number, readonly name: string } | undefined
  /** Offsets below are gone by request. */
  private deletedTo = 0
  private traces = false
  /** The call that comes before has failed. */
  private begun = false

  /** Without an injection: a life to be compared with, up to the end of a phase. */
  static async make(tracer: SiteTracer, injection?: Injection, { until = injection?.phase ?? 'recovery', from }: { readonly until?: Phase, readonly from?: Left | undefined } = {}): Promise<Life> {
    const redoSync = injection?.site.name === 'plugins/storage-local/redo-log.ts RedoLog.sync syncNow' ? 'inline' : 'pooled'
    return new Life(await createSimBroker({ seed: 1, machine: { diskBytes }, options: optionsWith(redoSync) }), tracer, injection, until, from)
  }

  private constructor(sim: SimBroker, tracer: SiteTracer, injection: Injection | undefined, until: Phase, from: Left | undefined) {
    this.from = from
    this.acknowledged.push(...from?.acknowledged ?? [])
    this.deletedTo = from === undefined ? 0 : deletedTo
    this.until = until
    this.sim = sim
    this.tracer = tracer
    this.injection = injection
    this.hitsLeft = injection?.times ?? 0
  }

  /** Lives up to the end of the phase of the injection, or through all, and then once more on a healthy disk, where everything acknowledged has to be. */
  async live(): Promise<this> {
    this.traces = this.injection === undefined
    await this.sim.run(async () => {
      const last = this.until
      if (this.from !== undefined) this.putBack(this.from)
      for (const phase of phases.slice(this.from === undefined ? 0 : phases.indexOf(last))) {
        await this.enter(phase)
        if (phase === last) break
      }
      await this.settle(last)
      await this.examine()
    }, { withinMs: 1_000_000 })
    return this
  }

  /** The machine goes on with this disk. */
  private putBack(from: Left): void {
    const { machine } = this.sim
    const disks = machine as unknown as Disks
    disks.files = from.files
    disks.keyValues = from.keyValues
    machine.crash('kill')
  }

  private keep(phase: Phase): void {
    const { files, keyValues } = this.sim.machine.process
    this.left.set(phase, { files: files.afterCrash({ keepUnsynced: 'all' }), keyValues: keyValues.afterCrash({ keepUnsynced: 'all' }), acknowledged: [...this.acknowledged] })
  }

  private async enter(phase: Phase): Promise<void> {
    this.phase = phase
    if (phase === 'restart' && this.from === undefined) this.keep(phase)
    if (phase === 'first start' || phase === 'restart') await this.start()
    if (phase === 'restart') for (const partition of [0, 1, 2, 3]) await this.send('kept', partition, ['again'])
    if (phase === 'serving') await this.serve()
    else if (phase === 'full disk') await this.fill()
    else if (phase === 'stop') await this.stop()
    else if (phase === 'recovery') {
      if (this.from === undefined) await this.makeUntidy()
      await this.start()
      if (this.sim.isRunning) await this.readAll()
    }
  }

  private async makeUntidy(): Promise<void> {
    const { phase } = this
    this.phase = undefined
    await this.untidy()
    this.sim.kill()
    wreck(this.sim.machine.process.files)
    this.keep('recovery')
    this.phase = phase
  }

  private async start(): Promise<void> {
    this.install()
    try {
      const broker = await this.sim.start()
      void broker.failed.then(() => { this.ended = true })
      this.look()
    } catch (error) {
      this.startError = codeOf(error)
    }
  }

  /** Watches the calls of the process that is about to start. */
  private install(): void {
    const { files, keyValues } = this.sim.machine.process
    files.observe = ({ kind, path }) => {
      this.watchSyncs(kind, path, files)
      if (this.hits(kind, path, 'file')) files.faults.add({ operation: kind, path, error: this.injection!.error, times: 1 })
    }
    const space = files.space.bind(files)
    files.space = path => {
      const stop = this.hits('space', path, 'file') ? files.faults.add({ operation: 'stat', path, error: this.injection!.error, times: 1 }) : undefined
      if (stop !== undefined) files.stat(path)
      return space(path)
    }
    keyValues.failWith = ({ kind, path }) => this.hits(kind, path, 'store') ? this.injection!.error : undefined
  }

  private hits(kind: string, path: string, of: 'file' | 'store'): boolean {
    const { injection, tracer, phase } = this
    if (this.traces) {
      const site = tracer.siteOf(kind, of)
      if (site !== undefined && phase !== undefined) (this.reached.get(phase) ?? this.reached.set(phase, new Set()).get(phase)!).add(site.name)
      if (site !== undefined && takesSpace.has(kind)) this.takingSpace.add(site.name)
      return false
    }
    if (injection === undefined || phase !== injection.phase || this.hitsLeft <= 0) return false
    const { after } = injection
    if (after !== undefined && !this.begun && tracer.mayBe(after.site, kind) && tracer.siteOf(kind, of)?.name === after.site.name) {
      this.begun = true
      this.sim.machine.process.files.faults.add({ operation: kind as FileOperationKind, path, error: after.error, times: 1 })
      return false
    }
    if (!tracer.mayBe(injection.site, kind)) return false
    if (this.directory !== undefined && directoryOf(path) !== this.directory) return false
    if (tracer.siteOf(kind, of)?.name !== injection.site.name) return false
    this.directory = directoryOf(path)
    this.hitsLeft--
    this.failures++
    if (kind === 'sync' || kind === 'sync directory') {
      this.failedSync ??= { directory: this.directory, atMs: this.sim.machine.clock.monotonicMs(), name: `${kind} ${path}` }
    }
    return true
  }

  private watchSyncs(kind: string, path: string, _files: MemoryFileSystem): void {
    const { failedSync } = this
    if (failedSync === undefined || (kind !== 'sync' && kind !== 'sync directory') || directoryOf(path) !== failedSync.directory) return
    if (this.sim.machine.clock.monotonicMs() > failedSync.atMs + underwayMs) this.violations.push(`${kind} ${path}, after ${failedSync.name} had failed`)
  }

  private look(): void {
    for (const { path, offline } of this.sim.broker.port(LogStore).directories()) if (offline !== undefined) this.offline.add(path)
  }

  private async attempt(what: string, run: () => Promise<unknown>): Promise<void> {
    if (!this.sim.isRunning || this.ended) return
    await run().catch((error: unknown) => { this.refused.push(`${this.phase ?? 'after'}: ${what}: ${codeOf(error)}`) })
  }

  private async send(topic: string, partition: number, values: readonly string[], acks: 'all' | 1 = 'all'): Promise<void> {
    const client = this.sim.client()
    await this.attempt('produce', async () => {
      const producer = client.producer({ acks, deliveryTimeoutMs: 1500, blockMsMax: 1500 })
      for (const value of values) {
        const { offset } = await producer.send({ topic, partition, value })
        if (acks === 'all' && topic !== 'loose') this.acknowledged.push({ topic, partition, offset, value })
      }
    })
    await client.close()
  }

  private async serve(): Promise<void> {
    const client = this.sim.client()
    const admin = client.admin()
    const small = { 'internal.segment.bytes': '1500', 'index.interval.bytes': '100' }
    await this.attempt('create topics', () => admin.createTopics([{ name: 'kept', partitions: 4, configs: small }], { timeoutMs: 2000 }))
    await this.attempt('create topics', () => admin.createTopics([{ name: 'doomed', partitions: 2, configs: small }, { name: 'bulk', partitions: 2 }, { name: 'gone', partitions: 2 }], { timeoutMs: 2000 }))
    await this.attempt('create topics', () => admin.createTopics([{ name: 'loose', partitions: 2, configs: { ...small, durability: 'os' } }, { name: 'short', partitions: 2, configs: { ...small, 'retention.ms': '100000000' } }, { name: 'late', partitions: 2 }], { timeoutMs: 2000 }))
    await this.attempt('create topics', () => admin.createTopics([{ name: 'table', partitions: 2, configs: { ...small, 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0' } }], { timeoutMs: 2000 }))
    for (const partition of [0, 1, 2, 3]) await this.send('kept', partition, ['a', 'b'])
    await this.tabulate()
    for (const topic of ['doomed', 'gone', 'loose', 'late']) for (const partition of [0, 1]) await this.send(topic, partition, ['a'])
    for (const partition of [0, 1]) await this.send('bulk', partition, ['x'.repeat(200_000)])
    for (const partition of [0, 1, 2, 3]) await this.send('kept', partition, Array.from({ length: 12 }, (_, index) => `${index} ${'r'.repeat(400)}`))
    await this.send('kept', 0, ['one'], 1)
    await this.sim.world.sleep(4000)
    for (const partition of [0, 1]) await this.send('bulk', partition, Array.from({ length: 6 }, (_, index) => `${index}${'y'.repeat(60_000)}`))
    await this.readAll()
    await this.attempt('list offsets', () => admin.listOffsets([{ topic: 'kept', partition: 0, at: { timestamp: 1 } }, { topic: 'kept', partition: 1, at: 'newest' }], { timeoutMs: 2000 }))
    this.deletedTo = deletedTo
    for (const partition of [0, 1]) await this.onLog('kept', partition, 'delete records', log => { log.deleteTo(Math.min(deletedTo, log.highWatermark)) })
    for (const partition of [0, 1]) await this.send('loose', partition, Array.from({ length: 12 }, (_, index) => `${index}${'l'.repeat(400)}`))
    await this.onLog('loose', 0, 'truncate', log => { log.truncateTo(5) })
    await this.onLog('loose', 1, 'truncate', log => { log.truncateTo(log.endOffset - 1) })
    // In the middle of its first segment.
    await this.onLog('loose', 1, 'delete records', log => { log.deleteTo(Math.min(1, log.highWatermark)) })
    await this.onLog('loose', 1, 'truncate', log => { log.truncateTo(log.startOffset) })
    await this.onLog('short', 0, 'append', log => {
      // The later ones without timestamps, as old clients send them: their age is that of the file.
      for (const timestamp of [1000, 1000, 1000, -1, -1, -1]) {
        const batch = makeBatch([{ timestamp, value: 'n'.repeat(600) }])
        log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: Math.max(0, log.lastEpoch) })
      }
    })
    await this.onLog('short', 1, 'delete records', log => {
      // Before anything of them is on the disk.
      for (let index = 0; index < 6; index++) {
        const batch = makeBatch([{ timestamp: this.sim.machine.clock.wallMs(), value: 's'.repeat(600) }])
        log.append(batch, 0, batch.length, { role: 'leader', leaderEpoch: Math.max(0, log.lastEpoch) })
      }
      log.raiseHighWatermark(log.endOffset)
      log.deleteTo(log.endOffset - 1)
    })
    await this.attempt('delete topics', () => admin.deleteTopics(['doomed'], { timeoutMs: 2000 }))
    await this.sim.world.sleep(9000)
    for (const partition of [0, 1, 2, 3]) await this.send('kept', partition, ['last'])
    await client.close()
    if (this.sim.isRunning && !this.ended) this.look()
  }

  /** Segments of a compacted topic in which all but a few records are overtaken. */
  private async tabulate(): Promise<void> {
    const client = this.sim.client()
    for (const partition of [0, 1]) await this.attempt('produce', async () => {
      const producer = client.producer({ acks: 'all', deliveryTimeoutMs: 1500, blockMsMax: 1500 })
      for (let index = 0; index < 16; index++) {
        const value = `${index}${'v'.repeat(400)}`
        const { offset } = await producer.send({ topic: 'table', partition, key: `key ${index % 3}`, value })
        // What is overtaken may be gone.
        if (index >= 13) this.acknowledged.push({ topic: 'table', partition, offset, value })
      }
    })
    await client.close()
  }

  private async onLog(topic: string, partition: number, what: string, run: (log: PartitionLog) => void): Promise<void> {
    await this.attempt(what, async () => {
      for (const log of this.sim.broker.port(LogStore).logs()) if (log.id.topic === topic && log.id.partition === partition) run(log)
    })
  }

  /** The disk fills up, what needs room is refused, and there is room again. */
  private async fill(): Promise<void> {
    if (!this.sim.isRunning || this.ended) return
    const { files } = this.sim.machine.process
    const free = files.space('/data').freeBytes
    const client = this.sim.client()
    files.resize(this.bytesUsed(free) + 3000)
    for (const partition of [0, 1]) await this.send('kept', partition, ['f'.repeat(3000), 'f'.repeat(900), 'f'.repeat(900)])
    await this.attempt('create topics', () => client.admin().createTopics([{ name: 'none', partitions: 2 }], { timeoutMs: 1500 }))
    await this.attempt('delete topics', () => client.admin().deleteTopics(['bulk'], { timeoutMs: 1500 }))
    await this.sim.world.sleep(500)
    files.resize(1 << 30)
    await this.sim.world.sleep(4000)
    for (const partition of [0, 1, 2, 3]) await this.send('kept', partition, ['after'])
    await client.close()
    if (!this.ended) this.look()
  }

  private bytesUsed(free: number): number {
    return diskBytes - free
  }

  private async readAll(): Promise<void> {
    const client = this.sim.client()
    for (const partition of [0, 1, 2, 3]) await this.attempt('fetch', () => this.valuesOf(client, 'kept', partition))
    for (const offset of [6, 8]) await this.attempt('fetch', async () => {
      await using consumer = client.consumer()
      consumer.assign([{ topic: 'kept', partition: 1, offset }])
      await consumer.poll({ timeoutMs: 1000 })
    })
    await client.close()
  }

  private async valuesOf(client: ReturnType<SimBroker['client']>, topic: string, partition: number): Promise<Map<number, string>> {
    const found = new Map<number, string>()
    const [end] = await client.admin().listOffsets([{ topic, partition, at: 'end' }], { timeoutMs: 2000 })
    const consumer = client.consumer()
    try {
      consumer.assign([{ topic, partition, offset: 'beginning' }])
      for (let next = 0, idle = 0; next < end!.offset && idle < 3;) {
        const records = await consumer.poll({ timeoutMs: 1000 })
        if (records.length === 0) idle++
        for (const record of records) {
          found.set(record.offset, record.text()!)
          next = record.offset + 1
        }
      }
    } finally {
      await consumer.close()
    }
    return found
  }

  /** Leaves work for a recovery: what is not synced, what is in the redo log alone. */
  private async untidy(): Promise<void> {
    if (!this.sim.isRunning) return
    for (const topic of ['loose', 'gone']) for (const partition of [0, 1]) await this.send(topic, partition, Array.from({ length: 8 }, () => 't'.repeat(400)))
    for (const topic of ['late', 'kept']) for (const partition of [0, 1]) await this.send(topic, partition, ['w'.repeat(300), 'z'.repeat(300)])
    for (const partition of [2, 3]) await this.send('kept', partition, ['w'.repeat(300), 'z'.repeat(300)])
    await this.send('short', 1, ['w'.repeat(300)])
    const client = this.sim.client()
    await this.attempt('delete topics', () => client.admin().deleteTopics(['late'], { timeoutMs: 1500 }))
  }

  private async stop(): Promise<void> {
    if (!this.sim.isRunning || this.ended) return
    // One of a stop before with more in it.
    await this.onLog('kept', 0, 'tamper', log => { put(this.sim.machine.process.files, `${this.directoryOfLog('kept-0')}/kept-0/${String(log.endOffset).padStart(20, '0')}.snapshot`, new Uint8Array(900)) })
    this.stopTroubles = (await this.sim.stop()).map(({ code }) => code)
    const { files } = this.sim.machine.process
    this.leftClean = directories.every(path => files.stat(`${path}/.kafka_cleanshutdown`) !== undefined)
  }

  private directoryOfLog(name: string): string {
    return directories.find(path => this.sim.machine.process.files.stat(`${path}/${name}`) !== undefined) ?? '/data'
  }

  /** What can still be done is done by the directory that serves. */
  private async settle(last: Phase): Promise<void> {
    this.phase = undefined
    this.lines.push(...this.sim.logLines.filter(line => /"level":"(warn|error)"/.test(line)))
    if (!this.sim.isRunning) return
    this.look()
    if (!this.ended && last !== 'first start') {
      const { files } = this.sim.machine.process
      for (const path of directories) {
        if (this.offline.has(path)) continue
        const partition = [0, 1, 2, 3].find(each => files.stat(`${path}/kept-${each}`) !== undefined)
        const before = this.acknowledged.length
        if (partition !== undefined) await this.send('kept', partition, ['other'])
        if (partition !== undefined && this.acknowledged.length === before) this.keepsOn(path)
      }
    }
  }

  /** A produce request to a directory that serves was refused at the end. */
  private keepsOn(path: string): void {
    if (path !== this.directory) this.violations.push(`the other directory, ${path}, serves no more: ${this.refused.at(-1)}`)
  }

  /** What was acknowledged is there, on a healthy disk, after a power cut. */
  private async examine(): Promise<void> {
    this.hitsLeft = 0
    this.failedSync = undefined
    this.sim.machine.process.files.faults.clear()
    this.sim.powerCut({ keepUnsynced: 'none' })
    this.install()
    try {
      await this.sim.start()
    } catch (error) {
      this.violations.push(`the start on a healthy disk ends with ${codeOf(error)}`)
      return
    }
    const client = this.sim.client()
    for (const topic of new Set(this.acknowledged.map(each => each.topic))) {
      if (topic === 'doomed' || topic === 'short' || topic === 'late' || (topic === 'bulk' && this.injection?.phase !== 'serving') || (topic === 'gone' && this.injection?.phase !== 'serving')) continue
      for (const partition of new Set(this.acknowledged.filter(each => each.topic === topic).map(each => each.partition))) {
        const found = await this.valuesOf(client, topic, partition).catch((error: unknown) => codeOf(error))
        for (const each of this.acknowledged) {
          if (each.topic !== topic || each.partition !== partition || (topic === 'kept' && each.offset < this.deletedTo)) continue
          const value = typeof found === 'string' ? found : found.get(each.offset)
          if (value !== each.value) this.violations.push(`${topic}-${partition}, offset ${each.offset}, was acknowledged as ${each.value.slice(0, 20)} and is ${String(value).slice(0, 40)}`)
        }
      }
    }
    await client.close()
    await this.sim.stop()
  }
}

export function codeOf(error: unknown): string {
  if (!isMillraceError(error)) return `NOT OF THE TABLE: ${String(error)}`
  const kafka = error.details['error'] ?? error.details['code']
  return typeof kafka === 'string' ? kafka : error.code
}
