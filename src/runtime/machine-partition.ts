import { assert, AssertionError } from '../base/assert.ts'
import { isMillraceError, MillraceError, reasonOf } from '../kernel/errors/index.ts'
import { type Clock, type Timer, type Timers } from '../kernel/ports/clock.ts'
import { type Compression } from '../kernel/ports/compression.ts'
import { type Replica } from '../kernel/ports/replicator.ts'
import { type Logger } from '../kernel/ports/telemetry.ts'
import { type LoadTurns } from './load-turns.ts'
import { LogReplay } from './log-replay.ts'
import { ParkedReplies } from './parked-replies.ts'
import { RecordAppender } from './record-appender.ts'
import { type Decision, type Done, type MachineTime, type RecordDraft, type ReplayMachine } from '../kernel/model/replay-machine.ts'

/** Between two loads of one partition, so that an append that always fails does not make it load all the time. */
const loadIntervalMs = 1000
/** Between two tries to act on a deadline. */
const pauseMs = 1000
/** Deadlines that are acted on before others have their turn. */
const duePerTick = 50
/** Between two tries of a load that fails. */
const loadRetryMs = 5000
/** So long somebody waits for a load: about what a small one takes, and well below what clients wait for an answer. */
const loadWaitMs = 1000

/** What one machine needs of the broker. */
export interface MachinePartitionParts<Command, Change, Reply> {
  readonly topic: string
  readonly partition: number
  /** Undefined while this broker has none. */
  readonly replica: () => Replica | undefined
  /** Under which this broker leads the partition. */
  readonly leaderEpoch: number
  readonly makeMachine: () => ReplayMachine<Command, Change, Reply>
  readonly clock: Clock
  readonly timers: Timers
  readonly now: () => MachineTime
  readonly compression: Compression
  /** Of the batches that are written; 0 leaves them as they are. */
  readonly codec: number
  readonly loadChunkBytes: number
  readonly loadTurns: LoadTurns
  readonly replyTimeoutMs: number
  readonly logger: Logger
  /** The machine has another first deadline. */
  readonly deadlineMoved: (deadlineMs: number) => void
}

/** Where a machine stands: its records are read, it decides, it failed and is to be loaded anew, or this broker leads it no more. */
export type PartitionState = 'loading' | 'active' | 'failed' | 'ended'

interface Mail<Command, Reply> {
  readonly command: Command
  readonly done: Done<Reply>
}

/** A machine in service. */
interface Service<Command, Change, Reply> {
  readonly machine: ReplayMachine<Command, Change, Reply>
  readonly replica: Replica
  readonly parked: ParkedReplies<Reply>
}

/**
 * Runs one machine over one partition that this broker leads. Commands are decided in the order in which they come; the records of a decision
 * are appended as one batch and replayed at once, so that the next decision sees them; answers are held back until the watermark has passed
 * what they rest on, and leave in the order of the decisions.
 *
 * An append that is refused changes nothing: the command fails alone. Where it is not known what became of one, and where the watermark will not come,
 * the machine is dropped, all who wait are told MR_COORDINATOR_NOT_HERE, and the log is replayed into a new one.
 */
export class MachinePartition<Command, Change, Reply> {
  readonly leaderEpoch: number
  private readonly parts: MachinePartitionParts<Command, Change, Reply>
  private readonly appender: RecordAppender
  private readonly askers = new Map<number, Done<Reply>>()
  private readonly mail: Mail<Command, Reply>[] = []
  private lastAsker = 0
  private service: Service<Command, Change, Reply> | undefined
  private loading: LogReplay | undefined
  private readonly loadWaiters: (() => void)[] = []
  private loadWait: Timer | undefined
  private retry: Timer | undefined
  private loadBeganMs = -Infinity
  private lastFailure = ''
  private handling = false
  private current: PartitionState = 'loading'
  private refusing = false
  /** Deadlines before this wait: what follows from one could not be written. */
  private pausedUntilMs = -Infinity

  constructor(parts: MachinePartitionParts<Command, Change, Reply>) {
    this.parts = parts
    this.leaderEpoch = parts.leaderEpoch
    this.appender = new RecordAppender(parts.compression, parts.codec)
  }

  get state(): PartitionState {
    return this.current
  }

  /** Those who wait for an answer. */
  get waiting(): number {
    return this.askers.size
  }

  /** The machine, while it is in service: to look at, never to change. */
  get machine(): ReplayMachine<Command, Change, Reply> | undefined {
    return this.service?.machine
  }

  get nextDeadlineMs(): number {
    return Math.max(this.service?.machine.nextDeadlineMs ?? Infinity, this.pausedUntilMs)
  }

  /** Begins the first load. */
  start(): void {
    this.load()
  }

  /**
   * `done` is called once, perhaps before this returns: with MR_COORDINATOR_LOADING, MR_COORDINATOR_NOT_HERE or MR_COORDINATOR_UNAVAILABLE, with
   * what refused the command, or with the reply.
   */
  submit(command: Command, done: Done<Reply>): void {
    const refusal = this.refusal()
    if (refusal !== undefined) {
      done(refusal, undefined)
      return
    }
    this.mail.push({ command, done })
    this.handleMail()
  }

  /** `done` is called once: now, or where a load is under way at its end, or a second later at most. For who would only be told to ask again. */
  onceLoaded(done: () => void): void {
    if (this.current !== 'loading' || this.refusing) {
      done()
      return
    }
    this.loadWaiters.push(done)
    this.loadWait ??= this.parts.timers.after(loadWaitMs, () => { this.endLoadWait() })
  }

  /** Lets the machine act on deadlines that have passed. */
  tick(): void {
    if (this.handling || this.service === undefined) return
    const { machine } = this.service
    const now = this.parts.now()
    for (let count = 0; count < duePerTick && this.service?.machine === machine && this.nextDeadlineMs <= now.judgedMs; count++) {
      this.guarded(() => { this.carryOut(() => machine.due(now), undefined) })
      this.handleMail()
    }
  }

  /** Answers all who wait for something that may never come, and takes no more commands. What is decided is still told. */
  stopWaiting(): void {
    this.refusing = true
    this.endLoadWait()
    const decided = this.service?.parked.askers() ?? new Set<number>()
    for (const asker of [...this.askers.keys()]) if (!decided.has(asker)) this.send(asker, this.notHere(), undefined)
  }

  /** This broker leads the partition no more, or not under this epoch. */
  end(): void {
    this.current = 'ended'
    this.letGo()
    this.endLoadWait()
  }

  private refusal(): MillraceError | undefined {
    const { topic, partition } = this.parts
    if (this.refusing || this.current === 'ended') return this.notHere()
    if (this.current === 'loading') return new MillraceError('MR_COORDINATOR_LOADING', { topic, partition })
    if (this.current === 'failed') return this.unavailable(this.lastFailure)
    return undefined
  }

  private handleMail(): void {
    if (this.handling) return
    for (let mail = this.mail.shift(); mail !== undefined; mail = this.mail.shift()) {
      const { command, done } = mail
      const { service } = this
      if (service === undefined) {
        done(this.refusal() ?? this.notHere(), undefined)
        continue
      }
      const asker = ++this.lastAsker
      this.askers.set(asker, done)
      this.guarded(() => { this.carryOut(() => service.machine.decide(command, asker, this.parts.now()), asker) })
    }
  }

  /** Commands that come while one is handled wait for it. */
  private guarded(work: () => void): void {
    this.handling = true
    try {
      work()
    } finally {
      this.handling = false
    }
  }

  private carryOut(decide: () => Decision<Change, Reply>, asker: number | undefined): void {
    const service = this.service!
    let decision: Decision<Change, Reply>
    try {
      decision = decide()
      this.write(service, decision)
    } catch (error) {
      this.refuse(service, asker, error)
      return
    }
    for (const change of decision.changes) service.machine.apply(change)
    for (const answer of decision.answers) service.parked.add(service.replica.log.endOffset, answer.asker, undefined, answer.reply)
    if (asker === undefined) this.pausedUntilMs = -Infinity
    this.parts.deadlineMoved(this.nextDeadlineMs)
  }

  /** Nothing has changed, or the machine is dropped. A refusal rests on what it saw, which must be committed before it is told. */
  private refuse(service: Service<Command, Change, Reply>, asker: number | undefined, error: unknown): void {
    if (error instanceof AssertionError) {
      if (asker !== undefined) this.askers.delete(asker)
      throw error
    }
    if (asker === undefined) this.pause(error)
    else if (this.service === service) service.parked.add(service.replica.log.endOffset, asker, error, undefined)
    else this.send(asker, error, undefined)
  }

  /** A deadline that has passed stays passed: it is acted on again, but not all the time. */
  private pause(error: unknown): void {
    if (this.pausedUntilMs === -Infinity) this.parts.logger.warn('a coordinator could not act on a deadline; it is tried again', { ...this.place(), error })
    this.pausedUntilMs = this.parts.now().judgedMs + pauseMs
    this.parts.deadlineMoved(this.nextDeadlineMs)
  }

  private write(service: Service<Command, Change, Reply>, decision: Decision<Change, Reply>): void {
    if (decision.records.length === 0) return
    const { replica, machine } = service
    if (replica.leaderEpoch !== this.leaderEpoch) {
      this.drop(this.notHere())
      throw this.notHere()
    }
    const { wallMs } = this.parts.now()
    const replayed = (record: RecordDraft, offset: number): void => { machine.replay(record.key, record.value, offset) }
    try {
      this.appender.append(replica, decision.records, wallMs, decision.divisible === true, replayed)
    } catch (error) {
      if (error instanceof AssertionError || isMillraceError(error, 'MR_RECORD_TOO_LARGE')) throw error
      // Nothing was appended, and there may be space again.
      if (!isMillraceError(error, 'MR_FILE_NO_SPACE')) this.drop(error)
      throw isMillraceError(error, 'MR_REPLICA_NOT_LEADER') ? this.notHere() : this.unavailable(reasonOf(error), error)
    }
  }

  /** What the machine holds may not be in the log. */
  private drop(error: unknown): void {
    const { topic, partition, logger } = this.parts
    logger.warn('a coordinator gives up what it holds and loads its partition again', { topic, partition, error })
    this.letGo()
    if (this.current === 'ended') return
    this.current = 'loading'
    this.loadAfter(Math.max(0, this.loadBeganMs + loadIntervalMs - this.parts.clock.monotonicMs()))
  }

  private letGo(): void {
    this.service?.parked.close()
    this.service = undefined
    this.loading?.cancel()
    this.loading = undefined
    this.retry?.cancel()
    this.retry = undefined
    for (const asker of [...this.askers.keys()]) this.send(asker, this.notHere(), undefined)
  }

  private loadAfter(delayMs: number): void {
    this.retry = this.parts.timers.after(delayMs, () => {
      this.retry = undefined
      this.load()
    })
  }

  private load(): void {
    const { clock, compression, loadChunkBytes, loadTurns, makeMachine } = this.parts
    this.current = 'loading'
    this.loadBeganMs = clock.monotonicMs()
    const replica = this.parts.replica()
    if (replica === undefined || replica.failure !== undefined) {
      this.loadFailed(replica?.failure ?? new MillraceError('MR_COORDINATOR_UNAVAILABLE', { ...this.place(), reason: 'this broker has no log of it' }))
      return
    }
    const machine = makeMachine()
    this.loading = new LogReplay({
      log: replica.log, compression, turns: loadTurns, chunkBytes: loadChunkBytes,
      replay: (key, value, offset) => { machine.replay(key, value, offset) },
      done: (error, records) => {
        this.loading = undefined
        if (error === undefined) this.serve(machine, replica, records)
        else this.loadFailed(error)
      },
    })
    this.loading.start()
  }

  private serve(machine: ReplayMachine<Command, Change, Reply>, replica: Replica, records: number): void {
    const { clock, logger, replyTimeoutMs, timers } = this.parts
    const parked = new ParkedReplies<Reply>({
      replica, clock, timers, timeoutMs: replyTimeoutMs,
      send: (asker, error, reply) => { this.send(asker, error, reply) },
      late: (asker) => { this.send(asker, this.unavailable(`it was not committed within ${replyTimeoutMs} ms, and may be yet`), undefined) },
      lost: (error) => { this.drop(error) },
    })
    this.service = { machine, replica, parked }
    this.pausedUntilMs = -Infinity
    this.current = 'active'
    this.lastFailure = ''
    if (records > 0) logger.info('a coordinator has loaded its partition', { ...this.place(), records, ms: Math.round(clock.monotonicMs() - this.loadBeganMs) })
    this.guarded(() => { this.carryOut(() => machine.loaded(this.parts.now()), undefined) })
    this.handleMail()
    this.endLoadWait()
  }

  private loadFailed(error: unknown): void {
    const reason = reasonOf(error)
    if (reason !== this.lastFailure) this.parts.logger.error('a coordinator cannot load its partition; it is tried again', { ...this.place(), error })
    this.lastFailure = reason
    this.current = 'failed'
    this.loadAfter(loadRetryMs)
    this.endLoadWait()
  }

  private endLoadWait(): void {
    this.loadWait?.cancel()
    this.loadWait = undefined
    for (const done of this.loadWaiters.splice(0)) done()
  }

  private send(asker: number, error: unknown, reply: Reply | undefined): void {
    const done = this.askers.get(asker)
    if (done === undefined) return
    assert(error !== undefined || reply !== undefined, 'an answer says something')
    this.askers.delete(asker)
    done(error, reply)
  }

  private place(): { topic: string, partition: number } {
    return { topic: this.parts.topic, partition: this.parts.partition }
  }

  private notHere(): MillraceError {
    return new MillraceError('MR_COORDINATOR_NOT_HERE', this.place())
  }

  private unavailable(reason: string, cause?: unknown): MillraceError {
    return new MillraceError('MR_COORDINATOR_UNAVAILABLE', { ...this.place(), reason }, cause)
  }
}
