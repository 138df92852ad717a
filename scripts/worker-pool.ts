import { fork, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const workerWord = 'worker'

/** Whether this process is one that a pool has started: it has to call `serveTasks`, and nothing else. */
export const isWorker = (): boolean => process.argv[2] === workerWord && process.send !== undefined

/** Answers what the pool asks for, one task after another, until it ends this process. */
export function serveTasks<Task, Answer>(run: (task: Task) => Promise<Answer>): void {
  process.on('message', (task: Task) => {
    // What a task rejects with ends the process, and the pool tells of it.
    void run(task).then(answer => { process.send!(answer) })
  })
}

export interface WorkerPoolOptions<Task, Answer> {
  /** `import.meta.url` of the script: each process runs it, as a worker. */
  readonly script: string
  /** Processes at work. One: this process does all itself. */
  readonly jobs: number
  readonly run: (task: Task) => Promise<Answer>
}

/** Does tasks in so many processes. Tasks and answers are what JSON can hold. */
export class WorkerPool<Task, Answer> {
  private readonly options: WorkerPoolOptions<Task, Answer>
  private readonly workers: readonly ChildProcess[]

  constructor(options: WorkerPoolOptions<Task, Answer>) {
    this.options = options
    const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
    this.workers = Array.from({ length: options.jobs > 1 ? options.jobs : 0 }, () => fork(fileURLToPath(options.script), [workerWord], { execArgv: ['--import', loader] }))
  }

  /** Each task once; a free process takes the next one. Answers come as they are ready. Rejects when a process ends. */
  async each(tasks: Iterable<Task>, take: (answer: Answer, task: Task) => void): Promise<void> {
    const left = tasks[Symbol.iterator]()
    const work = async (run: (task: Task) => Promise<Answer>): Promise<void> => {
      for (let next = left.next(); next.done !== true; next = left.next()) take(await run(next.value), next.value)
    }
    if (this.workers.length === 0) return work(this.options.run)
    await Promise.all(this.workers.map(worker => work(task => ask<Task, Answer>(worker, task))))
  }

  close(): void {
    for (const worker of this.workers) worker.kill()
  }
}

function ask<Task, Answer>(worker: ChildProcess, task: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a worker ended with ${code ?? 'a signal'} at ${JSON.stringify(task)}`))
    if (worker.exitCode !== null) return ended(worker.exitCode)
    worker.once('exit', ended)
    worker.once('message', (answer: Answer) => {
      worker.off('exit', ended)
      resolve(answer)
    })
    worker.send(task as object)
  })
}
