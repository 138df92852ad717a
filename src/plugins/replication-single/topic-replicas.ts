import { type Deferred, deferred } from '../../base/deferred.ts'
import { type SoleReplica } from './sole-replica.ts'

/** The replicas that this broker has of one topic, and those that it has still to make. */
export class TopicReplicas {
  /** By partition; places without a replica here are undefined. */
  readonly replicas: (SoleReplica | undefined)[] = []
  private readonly making = new Set<number>()
  private readonly waiters: Deferred<void>[] = []
  private stopped: Error | undefined

  /** False where it is being made already. */
  begin(partition: number): boolean {
    if (this.making.has(partition)) return false
    this.making.add(partition)
    return true
  }

  /** It was made, or could not be. */
  finish(partition: number): void {
    this.making.delete(partition)
    if (this.making.size === 0) this.settle()
  }

  /** None is made any more: the topic is gone. */
  end(): void {
    this.making.clear()
    this.settle()
  }

  stop(error: Error): void {
    this.stopped = error
    for (const waiter of this.waiters.splice(0)) waiter.reject(error)
  }

  isMaking(partition: number): boolean {
    return this.making.has(partition)
  }

  /** Resolves when none is being made; rejects when the broker stops before. */
  made(): Promise<void> {
    if (this.making.size === 0) return Promise.resolve()
    if (this.stopped !== undefined) return Promise.reject(this.stopped)
    const waiter = deferred()
    this.waiters.push(waiter)
    return waiter.promise
  }

  private settle(): void {
    for (const waiter of this.waiters.splice(0)) waiter.resolve()
  }
}
