import { type Thread, type Threads } from '../../../../src/kernel/ports/threads.ts'
import { NodeCompression } from '../../../../src/platform/codecs/node-compression.ts'
import { type ToWorker } from '../../../../src/plugins/storage-local/work-messages.ts'
import { WorkerRounds } from '../../../../src/plugins/storage-local/worker-rounds.ts'
import { type MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { withoutMemory } from '../without-memory.ts'

/** Threads that are none: what they are told is copied as it is between threads, and taken a turn later. */
export class TurnThreads implements Threads {
  /** What the thread has its files in; it is there when it is started. */
  files: MemoryFileSystem | undefined
  started = 0
  stopped = 0
  /** Files that the threads have open. */
  readonly open = new Set<object>()
  /** The most of them at a time. */
  openMost = 0
  /** Messages of all threads. */
  count = 0
  /** The thread dies at this message. */
  diesAt = Infinity
  /** The system gives no thread. */
  areRefused = false
  /** There is no memory for what this message takes. */
  starvesAt = Infinity
  onMessageTaken: (count: number) => void = () => {}

  start(_module: URL, onMessage: (message: object) => void, onEnd: (error?: unknown) => void): Thread {
    if (this.areRefused) throw new Error('ERR_WORKER_INIT_FAILED: EAGAIN')
    this.started++
    let isDead = false
    const rounds = new WorkerRounds({ files: whileAlive(this.files!, () => !isDead, this), compression: new NodeCompression() }, answer => {
      const copy = structuredClone(answer)
      queueMicrotask(() => { if (!isDead) onMessage(copy) })
    })
    const take = (message: ToWorker): void => {
      if (isDead) return
      this.onMessageTaken(++this.count)
      if (this.count === this.starvesAt) return withoutMemory(() => { rounds.take(message) })
      if (this.count < this.diesAt) return rounds.take(message)
      isDead = true
      onEnd(new Error('out of memory'))
    }
    return {
      post: message => {
        const copy = structuredClone(message) as ToWorker
        queueMicrotask(() => { take(copy) })
      },
      stop: () => {
        if (!isDead) this.stopped++
        isDead = true
      },
    }
  }
}

/** What a thread that is dead does to files and was told by them: nothing. */
function whileAlive<T extends object>(files: T, isAlive: () => boolean, threads: TurnThreads): T {
  const alive = (value: unknown): unknown => typeof value === 'function' ? (...args: readonly unknown[]) => isAlive() ? (value as (...args: readonly unknown[]) => unknown)(...args) : undefined : value
  return new Proxy(files, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        if (!isAlive()) return undefined
        const result: unknown = Reflect.apply(value, target, args.map(alive))
        if (name === 'close') threads.open.delete(target)
        if (name !== 'open') return result
        threads.open.add(result as object)
        threads.openMost = Math.max(threads.openMost, threads.open.size)
        return whileAlive(result as object, isAlive, threads)
      }
    },
  })
}
