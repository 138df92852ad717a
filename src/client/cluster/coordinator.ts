import { backoffMs } from '../../base/backoff.ts'
import { kafkaErrors, findCoordinatorApi } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { type Channel } from '../channel/channel.ts'
import { brokerError, isRetriable } from '../client-error.ts'
import { pause } from '../pause.ts'
import { type Lane } from './broker-pool.ts'
import { type LookupParts } from './offset-lookup.ts'

const groupKeyType = 0
/** From here on one request asks for several keys. */
const batchesFrom = 4

export interface CoordinatorWait {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Knows which broker coordinates a group, and asks when it does not. */
export class Coordinator {
  private readonly parts: LookupParts
  private readonly groupId: string
  private nodeId = -1
  private finding: Promise<number> | undefined
  private findingUntilMs = 0

  constructor(parts: LookupParts, groupId: string) {
    this.parts = parts
    this.groupId = groupId
  }

  /** -1: not known at the moment. */
  get knownNodeId(): number {
    return this.nodeId
  }

  /** Whoever it was, it is not any more, or cannot be reached. */
  forget(): void {
    this.nodeId = -1
  }

  /** Rejects when the time is up with what kept it from being found, and with what cannot get better. */
  async channel(lane: Lane, { timeoutMs, signal }: CoordinatorWait): Promise<Channel> {
    const { world, metadata, pool } = this.parts
    const deadlineMs = world.clock.monotonicMs() + timeoutMs
    if (this.nodeId < 0) this.nodeId = await this.found(deadlineMs, signal)
    const { nodeId } = this
    const late = (): Error => metadata.lastFailure instanceof Error ? metadata.lastFailure
      : brokerError(kafkaErrors.COORDINATOR_NOT_AVAILABLE, { what: `finding the coordinator of group ${this.groupId}`, message: `broker ${nodeId} is not in the metadata` })
    return metadata.waitFor(() => pool.channel(nodeId, lane), { timeoutMs: Math.max(1, deadlineMs - world.clock.monotonicMs()), signal, late })
  }

  /** Who asks meanwhile waits for the same answer, if it is waited for as long. */
  private found(deadlineMs: number, signal: AbortSignal | undefined): Promise<number> {
    if (this.finding !== undefined && this.findingUntilMs >= deadlineMs && signal === undefined) return this.finding
    const finding = this.find(deadlineMs, signal)
    this.finding = finding
    this.findingUntilMs = deadlineMs
    const end = (): void => { if (this.finding === finding) this.finding = undefined }
    finding.then(end, end)
    return finding
  }

  private async find(deadlineMs: number, signal: AbortSignal | undefined): Promise<number> {
    const { world, client } = this.parts
    for (let attempt = 1; ; attempt++) {
      const remainingMs = Math.max(1, deadlineMs - world.clock.monotonicMs())
      const pauseMs = backoffMs(attempt, client.backoff, () => world.random.fraction())
      try {
        return await this.ask(attempt, Math.min(remainingMs, client.requestTimeoutMs), signal)
      } catch (error) {
        if (!isRetriable(error) || signal?.aborted === true || world.clock.monotonicMs() + pauseMs >= deadlineMs) throw error
        this.parts.metadata.refresh()
      }
      await pause(world.timers, pauseMs, signal)
    }
  }

  private async ask(attempt: number, timeoutMs: number, signal: AbortSignal | undefined): Promise<number> {
    const { groupId } = this
    const response = await call(this.parts.pool.anyChannel(attempt - 1), findCoordinatorApi, version => version >= batchesFrom
      ? { keyType: groupKeyType, coordinatorKeys: [groupId] }
      : { key: groupId, keyType: groupKeyType }, { timeoutMs, signal })
    const [answer = response] = response.coordinators
    if (answer.errorCode !== kafkaErrors.NONE) throw brokerError(answer.errorCode, { what: `finding the coordinator of group ${groupId}`, message: answer.errorMessage })
    return answer.nodeId
  }
}
