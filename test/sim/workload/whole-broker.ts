import { type Prng } from '../../../src/base/prng.ts'
import { type Client } from '../../../src/client/index.ts'
import { createSimBroker, type SimBroker } from '../../../src/harness/index.ts'
import { AcknowledgedIsDurable } from '../checkers/acknowledged-is-durable.ts'
import { LookupsEqualAScan } from '../checkers/lookups-equal-a-scan.ts'
import { NothingAboveTheWatermark } from '../checkers/nothing-above-the-watermark.ts'
import { OffsetsAreGivenOnce } from '../checkers/offsets-are-given-once.ts'
import { ReadsRepeat } from '../checkers/reads-repeat.ts'
import { RecoveryIsIdempotent } from '../checkers/recovery-is-idempotent.ts'
import { RetriesFindTheOriginal } from '../checkers/retries-find-the-original.ts'
import { SequencesAreWhole } from '../checkers/sequences-are-whole.ts'
import { WatermarksNeverFall } from '../checkers/watermarks-never-fall.ts'
import { History, type HistoryEvent } from '../history.ts'
import { Administrator } from './administrator.ts'
import { Audit } from './audit.ts'
import { ClientConsumer } from './client-consumer.ts'
import { ClientProducer } from './client-producer.ts'
import { Operator } from './operator.ts'
import { RandomRecords } from './random-records.ts'
import { RawClient } from './raw-client.ts'
import { RawProducer } from './raw-producer.ts'
import { RawReader } from './raw-reader.ts'
import { type Operation, Stage } from './stage.ts'
import { Topics } from './topics.ts'

export interface WholeBrokerRun {
  /** Equal for two runs in which the same things happened. */
  readonly digest: string
  readonly simulatedMs: number
  readonly events: number
  /** How often each operation was done, and each error met. */
  readonly counts: ReadonlyMap<string, number>
}

const allCheckers = () => [
  new AcknowledgedIsDurable(), new WatermarksNeverFall(), new ReadsRepeat(), new NothingAboveTheWatermark(), new OffsetsAreGivenOnce(),
  new SequencesAreWhole(), new RetriesFindTheOriginal(), new LookupsEqualAScan(), new RecoveryIsIdempotent(),
]

/** So many random operations on a whole broker. Rejects with a Violation, or what else went wrong, and the words to do it again. */
export async function runWholeBroker(seed: number, operations: number): Promise<WholeBrokerRun> {
  const sim = await createSimBroker({
    seed, network: { giveUpMs: 8000, windowBytes: 16_384 },
    options: { broker: { 'auto.create.topics.enable': false, 'log.retention.check.interval.ms': 700, 'log.flush.offset.checkpoint.interval.ms': 900, 'replica.high.watermark.checkpoint.interval.ms': 500 } },
  })
  const { world } = sim
  const history = new History(allCheckers(), event => world.trace(inWords(event)))
  const stage = new Stage(sim, history, new Topics(history), operations)
  try {
    await world.run(() => play(stage), { withinMs: 24 * 3_600_000 })
  } catch (error) {
    throw new Error(`${String(error)}\nto see it again: npm run sim -- --seed ${seed} --operations ${operations}\n${world.report()}`, { cause: error })
  }
  return { digest: world.digest(), simulatedMs: world.nowMs, events: world.scheduler.eventsRun, counts: stage.counts }
}

async function play(stage: Stage): Promise<void> {
  const { sim } = stage
  const { prng } = sim.world
  await sim.start()
  const machines = Array.from({ length: 8 }, (_, index) => `client-${index}`)
  const auditor = new RawClient(sim.clientWorld('auditor'), prng.fork('auditor'))
  const audit = new Audit(stage, auditor, sim.clientWorld('auditor'), prng.fork('audit'))
  const actors = machines.map(name => actor(stage, name, prng.fork(name)))
  const administrators = actors.map(each => each.administrator)
  for (let count = 0; count < 4; count++) await administrators[0]!.create()
  const operator = new Operator(stage, prng.fork('operator'), machines, audit)
  await Promise.all([operator.act(), ...actors.map(each => stage.act(each.prng, each.operations, 60))])
  await operator.runAudit()
  await Promise.all(actors.map(each => each.close()))
  auditor.close()
  await sim.stop()
}

/** Everything that one machine of clients does. */
function actor(stage: Stage, name: string, prng: Prng) {
  const { sim } = stage
  const world = sim.clientWorld(name)
  const raw = new RawClient(world, prng.fork('raw client'))
  const clients = new Clients(sim, name)
  const current = (): Client => clients.current()
  const records = new RandomRecords(prng.fork('records'), name)
  const administrator = new Administrator(stage, current, prng.fork('administrator'))
  const reconnect: Operation = { name: 'client closed', weight: 1, run: () => clients.renew() }
  const operations = [
    ...new RawProducer(stage, raw, world, prng.fork('raw producer'), records).operations,
    ...new RawReader(stage, raw, world, prng.fork('raw reader')).operations,
    ...new ClientProducer(stage, current, prng.fork('producer'), records).operations,
    ...new ClientConsumer(stage, current, prng.fork('consumer')).operations,
    ...(name === 'client-0' ? administrator.operations : administrator.operations.filter(({ name: what }) => !/create|delete/.test(what))),
    reconnect,
  ]
  const close = async (): Promise<void> => {
    raw.close()
    await clients.close()
  }
  return { prng, operations, administrator, close }
}

/** The client of one machine, made anew from time to time. */
class Clients {
  private readonly sim: SimBroker
  private readonly name: string
  private client: Client | undefined

  constructor(sim: SimBroker, name: string) {
    this.sim = sim
    this.name = name
  }

  current(): Client {
    this.client ??= this.sim.client(this.name, { connectTimeoutMs: 2000, requestTimeoutMs: 5000, retryBackoffMs: 20, retryBackoffMsMax: 300 })
    return this.client
  }

  async renew(): Promise<void> {
    const { client } = this
    this.client = undefined
    await client?.close()
  }

  close(): Promise<void> {
    return this.renew()
  }
}

/** For the trace: equal when the events are. */
function inWords(event: HistoryEvent): string {
  if (event.kind === 'recovered') return `recovered ${event.synced.size} ${event.first.size} ${event.second.size}`
  return JSON.stringify(event)
}
