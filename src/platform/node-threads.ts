import { createRequire } from 'node:module'
import { constants, getPriority, setPriority } from 'node:os'
import { pathToFileURL } from 'node:url'
import { parentPort, Worker } from 'node:worker_threads'
import { type Thread, type Threads } from '../kernel/ports/threads.ts'

/** Threads of Node. */
export class NodeThreads implements Threads {
  start(module: URL, onMessage: (message: object) => void, onEnd: (error?: unknown) => void): Thread {
    const worker = module.pathname.endsWith('.ts') ? new Worker(fromSources(module), { eval: true }) : new Worker(module, { execArgv: [] })
    let hasEnded = false
    const end = (error?: unknown): void => {
      if (hasEnded) return
      hasEnded = true
      onEnd(error)
    }
    worker.on('message', onMessage)
    worker.once('error', end)
    worker.once('exit', () => { end() })
    worker.unref()
    return {
      post: message => { worker.postMessage(message) },
      stop: () => { void worker.terminate() },
    }
  }
}

/** In development: the thread has to be told what compiles its sources. */
function fromSources(module: URL): string {
  const compiler = pathToFileURL(createRequire(import.meta.url).resolve('tsx/esm/api').replace(/cjs$/, 'mjs')).href
  return `import(${JSON.stringify(compiler)}).then((tsx) => { tsx.register(); return import(${JSON.stringify(module.href)}) })`
}

/** The side of the thread itself: what it is told, and whom it tells. */
export function startedBy(onMessage: (message: object) => void): (message: object) => void {
  parentPort!.on('message', onMessage)
  return message => { parentPort!.postMessage(message) }
}

/** How much lower than others of this process, in the nice values of Linux. */
const yielding = 10

/** Lets the other threads of this process go first, from here on. Linux alone has a priority of threads. */
export function giveWay(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + yielding))
  } catch {
    // It runs as the others do.
  }
}
