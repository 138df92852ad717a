/** Somebody who holds bytes of requests that can not be handled yet or whose bytes are still needed: a connection. */
export interface MemoryHolder {
  /** Set by the budget alone. */
  heldBytes: number
  /** It may read on. Called at most once after each `hold` that returned false, never within it. */
  memoryFreed(): void
  /** Others wait for what it holds. It lets go, by `forget`, and says so if what it holds is half a frame; work under way it keeps, and false is the answer. */
  giveUpMemory(): boolean
}
