import { type HistoryEvent, type PartitionKey } from '../history.ts'

/** What a checker knows of each partition that is there. */
export class PartitionStates<T> {
  private readonly make: () => T
  private readonly states = new Map<PartitionKey, T>()

  constructor(make: () => T) {
    this.make = make
  }

  of(partition: PartitionKey): T {
    let state = this.states.get(partition)
    if (state === undefined) this.states.set(partition, state = this.make())
    return state
  }

  [Symbol.iterator](): IterableIterator<[PartitionKey, T]> {
    return this.states.entries()
  }

  /** To be told of every event, before the checker looks at it: what is gone is forgotten. */
  see(event: HistoryEvent): void {
    if (event.kind === 'deleted') this.states.delete(event.partition)
  }
}
