import { type Prng } from '../../../src/base/prng.ts'
import { type Client } from '../../../src/client/index.ts'
import { createSimBroker, type SimBroker } from '../../../src/harness/index.ts'
import { isMillraceError } from '../../../src/kernel/errors/index.ts'
import { faultSwarm, type FileFault } from '../../../src/testkit/index.ts'
import { kafkaErrors } from '../../../src/wire/index.ts'
import { AcknowledgedIsDurable } from '../checkers/acknowledged-is-durable.ts'
import { DeletedStaysDeleted } from '../checkers/deleted-stays-deleted.ts'
import { NothingAboveTheWatermark } from '../checkers/nothing-above-the-watermark.ts'
import { OffsetsAreGivenOnce } from '../checkers/offsets-are-given-once.ts'
import { ReadIsDurable } from '../checkers/read-is-durable.ts'
import { ReadsRepeat } from '../checkers/reads-repeat.ts'
import { History, type HistoryEvent, Violation } from '../history.ts'
import { Administrator } from './administrator.ts'
import { Audit } from './audit.ts'
import { ClientConsumer } from './client-consumer.ts'
import { ClientProducer } from './client-producer.ts'
import { RandomRecords } from './random-records.ts'
import { RawClient } from './raw-client.ts'
import { RawProducer } from './raw-producer.ts'
import { RawReader } from './raw-reader.ts'
import { addReached, type Reached } from './reached.ts'
import { RecordsDeleter } from './records-deleter.ts'
import { Stage } from './stage.ts'
import { Topics } from './topics.ts'

export interface PowerCutsRun extends Reached {
  /** Equal for two runs in which the same things happened. */
  readonly digest: string
  /** Records that were acknowledged to acks=all, and that consumers were given. */
  readonly acknowledged: number
  readonly seen: number
  readonly topicsDeleted: number
  readonly operations: number
  readonly events: number
  readonly simulatedMs: number
  /** How often each fault of the disk was met, and each thing that a power cut did. */
  readonly faults: Readonly<Record<string, number>>
}

/** Faults that no disk can have and keep what was synced: nobody could promise anything on such a one. */
const ruinous = (fault: FileFault): boolean => 'damage' in fault

/** A machine that is busy, and whose power is cut so many times at random moments; its disk may fail besides. Rejects with what went wrong, and the words to do it again. */
export async function runPowerCuts(seed: number, cuts: number): Promise<PowerCutsRun> {
  const blockBytes: 512 | 4096 | undefined = seed % 5 === 0 ? 512 : seed % 5 === 1 ? 4096 : undefined
  const disk = { names: seed % 2 === 0 ? 'ordered' : 'each', garbage: seed % 3 === 0, ...(blockBytes === undefined ? {} : { blockBytes }) } as const
  const sim = await createSimBroker({
    seed, network: { giveUpMs: 300, windowBytes: 16_384 }, machine: { disk },
    options: {
      // Each with checkpoints and a redo log of its own.
      ...(seed % 3 === 1 ? { data: ['/data', '/data2'] } : {}),
      broker: { 'auto.create.topics.enable': false, 'log.retention.check.interval.ms': 700, 'log.cleaner.backoff.ms': 150, 'log.flush.offset.checkpoint.interval.ms': 900, 'replica.high.watermark.checkpoint.interval.ms': 500 },
      ...(seed % 7 === 0 ? { settings: { 'storage-local': { redoBytesMax: 0 } } } : {}),
    },
  })
  const { world } = sim
  const reached: Reached = { redoFilesReused: 0, compactions: 0, recordsCompacted: 0, recordsDeleted: 0, directories: 0 }
  const tally = { acknowledged: 0, seen: 0 }
  const history = new History([new AcknowledgedIsDurable(), new ReadIsDurable(), new ReadsRepeat(), new NothingAboveTheWatermark(), new OffsetsAreGivenOnce(), new DeletedStaysDeleted()], event => count(event, tally))
  const stage = new Stage(sim, history, new Topics(history), Infinity, [kafkaErrors.KAFKA_STORAGE_ERROR, kafkaErrors.UNKNOWN_SERVER_ERROR])
  try {
    await world.run(() => play(stage, cuts, { reached, isBulky: seed % 4 === 2 }), { withinMs: 3_600_000 })
  } catch (error) {
    throw new Error(`${String(error)}\nto see it again: npm run sim:power -- --seed ${seed} --seeds 1 --cuts ${cuts}\n${world.report()}`, { cause: error })
  }
  const operations = [...stage.counts.values()].reduce((sum, each) => sum + each, 0)
  return { digest: world.digest(), ...tally, ...reached, recordsDeleted: stage.recordsDeleted, topicsDeleted: stage.topicsDeleted, operations, events: world.scheduler.eventsRun, simulatedMs: world.nowMs, faults: Object.fromEntries(world.faultCounts.all()) }
}

function count(event: HistoryEvent, tally: { acknowledged: number, seen: number }): void {
  if (event.kind === 'appended' && event.acks === 'all') tally.acknowledged += event.contents.length
  if (event.kind === 'read' || event.kind === 'fetched') tally.seen += event.records.length
}

interface Play {
  readonly reached: Reached
  /** Much is written, so that files of the redo log are used again. */
  readonly isBulky: boolean
}

async function play(stage: Stage, cuts: number, { reached, isBulky }: Play): Promise<void> {
  const { sim } = stage
  const prng = sim.world.prng.fork('power cuts')
  await sim.start()
  const actors = ['client-0', 'client-1', 'client-2'].map(name => actor(stage, name, prng.fork(name), isBulky))
  const { administrator, ...administration } = administrating(stage, prng.fork('administrator'))
  for (let made = prng.between(2, 4); made > 0; made--) await administrator.create()
  const acting = Promise.all([...actors.map(each => stage.act(each.prng, each.operations, 16)), stage.act(administration.prng, administration.operations, 200)])
  // What an actor finds ends the run at once.
  await Promise.race([acting, cutAgainAndAgain(stage, prng, cuts, { reached, isBulky })])
  await acting
  for (const each of actors) await each.close()
  sim.world.network.heal()
  // What was sent without an answer arrives.
  await sim.world.sleep(3000)
  await administrator.expectNoOthers()
  await administration.close()
  const world = sim.clientWorld('auditor')
  const auditor = new RawClient(world, prng.fork('auditor'))
  await new Audit(stage, auditor, world, prng.fork('audit')).run()
  auditor.close()
  addReached(reached, sim)
  await sim.stop()
}

/** Ends on a good disk, after a last power cut. */
async function cutAgainAndAgain(stage: Stage, prng: Prng, cuts: number, { reached, isBulky }: Play): Promise<void> {
  const { sim } = stage
  const faults = prng.chance(0.3) ? [] : faultSwarm(prng, { allow: (_name, fault) => !ruinous(fault), chanceMax: 0.003 })
  sim.machine.spoilDisk(faults)
  for (let done = 0; done < cuts; done++) {
    await sim.world.sleep(prng.float() * prng.pick(isBulky ? [300, 1500, 2500] : [100, 300, 900]))
    addReached(reached, sim)
    cut(stage)
    await startAgain(stage, prng, faults)
  }
  await sim.world.sleep(prng.float() * 300)
  stage.left = 0
  addReached(reached, sim)
  sim.machine.spoilDisk([])
  cut(stage)
  await sim.start()
}

function cut({ sim, history, topics }: Stage): void {
  sim.powerCut()
  history.add({ kind: 'ended', how: 'power' })
  topics.cut()
}

/** On a disk that fails a start may fail too, or never end; then the power is cut again, and the disk has a good time. */
async function startAgain(stage: Stage, prng: Prng, faults: readonly FileFault[]): Promise<void> {
  const { sim } = stage
  await sim.world.sleep(prng.float() * 300)
  // Now and then it is cut again while it recovers.
  if (prng.chance(0.3)) {
    void sim.start().catch(() => {})
    await sim.world.sleep(prng.float() * 15)
    if (sim.isRunning) cut(stage)
  }
  const outcome = await Promise.race([sim.start().then(() => 'started', refusal), sim.world.sleep(120_000).then(() => 'late')])
  if (outcome === 'started') return
  if (faults.length === 0) throw new Violation(`a start after a power cut failed: ${outcome}`)
  stage.count('start on a failing disk did not succeed')
  sim.machine.spoilDisk([])
  if (sim.isRunning) cut(stage)
  await sim.start()
  sim.machine.spoilDisk(faults)
}

function refusal(error: unknown): string {
  if (!isMillraceError(error)) throw error
  return String(error)
}

/** Producers and consumers of one machine. */
function actor(stage: Stage, name: string, prng: Prng, isBulky: boolean) {
  const world = stage.sim.clientWorld(name)
  const raw = new RawClient(world, prng.fork('raw client'), 300)
  const client = clientOf(stage.sim, name)
  // What counts here is how often the power is cut, not how much is written between.
  const records = new RandomRecords(prng.fork('records'), name, 0.03, isBulky ? 6000 : 0)
  const operations = [
    ...new RawProducer(stage, raw, world, prng.fork('raw producer'), records).operations,
    ...new RawReader(stage, raw, world, prng.fork('raw reader')).operations.filter(({ name: what }) => what !== 'raw slow reader'),
    ...new ClientProducer(stage, () => client, prng.fork('producer'), records).operations,
    ...new ClientConsumer(stage, () => client, prng.fork('consumer')).operations,
    ...new RecordsDeleter(stage, raw, prng.fork('records deleter')).operations,
  ]
  const close = async (): Promise<void> => {
    raw.close()
    await client.close()
  }
  return { prng, operations, close }
}

/** Topics come and go meanwhile. */
function administrating(stage: Stage, prng: Prng) {
  const client = clientOf(stage.sim, 'administrator')
  const administrator = new Administrator(stage, () => client, prng, 0.3)
  return { prng, administrator, operations: administrator.operations.filter(({ name }) => /^(create|delete) topic$/.test(name)), close: () => client.close() }
}

const clientOf = (sim: SimBroker, name: string): Client => sim.client(name, { connectTimeoutMs: 200, requestTimeoutMs: 300, retryBackoffMs: 20, retryBackoffMsMax: 200 })
