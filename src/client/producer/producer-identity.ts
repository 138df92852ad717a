import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type Timer } from '../../kernel/ports/clock.ts'
import { initProducerIdApi, kafkaErrors } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { type ClientSettings } from '../client-options.ts'
import { type ClientWorld } from '../client-world.ts'
import { type BrokerPool } from '../cluster/broker-pool.ts'

const epochMax = 0x7fff

/**
 * The producer id by which brokers recognise what comes twice. It is asked for when the first batch is to be sent. Partitions count their own epochs up from the
 * one it came with; when those run out, or a broker takes the id for somebody else's, a new one is asked for.
 */
export class ProducerIdentity {
  private readonly world: ClientWorld
  private readonly settings: ClientSettings
  private readonly pool: BrokerPool
  private readonly changed: () => void
  private insists: boolean
  private wanted: boolean
  private asking = false
  private attempts = 0
  private timer: Timer | undefined
  private isClosed = false
  id = -1
  epoch = -1
  /** Why there will be no id: batches fail with it. */
  failure: Error | undefined

  /** `changed` is called when batches may go, or must fail. */
  constructor(world: ClientWorld, settings: ClientSettings, pool: BrokerPool, mode: 'never' | 'if possible' | 'always', changed: () => void) {
    this.world = world
    this.settings = settings
    this.pool = pool
    this.wanted = mode !== 'never'
    this.insists = mode === 'always'
    this.changed = changed
  }

  /** Whether batches carry an identity. */
  get isUsed(): boolean {
    return this.wanted
  }

  /** Whether batches may be sent. Asks for an id where one is needed. */
  get isReady(): boolean {
    if (!this.wanted || this.id >= 0) return true
    if (!this.asking && this.failure === undefined && !this.isClosed) {
      this.asking = true
      void this.ask()
    }
    return false
  }

  /** The epoch after this one under the present id; undefined when a new id has to be asked for first. */
  epochAfter(producerId: number, epoch: number): number | undefined {
    if (producerId !== this.id) return this.epoch
    if (epoch < epochMax) return epoch + 1
    this.reject(producerId)
    return undefined
  }

  /** A broker did not accept this id any more. */
  reject(producerId: number): void {
    if (this.id === producerId) this.id = -1
  }

  close(): void {
    this.isClosed = true
    this.timer?.cancel()
  }

  /** Never rejects. */
  private async ask(): Promise<void> {
    try {
      const response = await call(this.pool.anyChannel(this.attempts), initProducerIdApi, () => ({
        transactionalId: null, transactionTimeoutMs: 0x7fff_ffff,
      }), { timeoutMs: this.settings.requestTimeoutMs })
      if (response.errorCode !== kafkaErrors.NONE) throw brokerError(response.errorCode, { what: 'asking for a producer id' })
      this.id = response.producerId
      this.epoch = response.producerEpoch
      this.attempts = 0
      // Every broker has idempotence that has given an id once.
      this.insists = true
      this.asking = false
      this.changed()
    } catch (error) {
      this.refused(error)
    }
  }

  private refused(error: unknown): void {
    if (this.isClosed) return
    this.attempts++
    if (isRetriable(error)) {
      const delayMs = backoffMs(this.attempts, this.settings.backoff, () => this.world.random.fraction())
      this.timer = this.world.timers.after(delayMs, () => { void this.ask() })
      return
    }
    this.asking = false
    if (!this.insists && isMillraceError(error, 'MR_CLIENT_UNSUPPORTED')) {
      this.world.logger?.warn('the cluster knows no producer ids: what is sent twice will be stored twice')
      this.wanted = false
    } else {
      this.failure = error instanceof Error ? error : new MillraceError('MR_CLIENT_BROKER_REFUSED', { what: 'asking for a producer id', error: String(error) })
    }
    this.changed()
  }
}
