import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** An input that holds the event loop for longer has to be shown to do so again before it counts. */
export const stallMsMax = 50

/** Memory below this is never counted: what the process needs to count it, and garbage of the fuzzer's own. */
const noiseBytes = 4 * 1024 * 1024

// Also in a process that was not started with --expose-gc, such as that of a test.
setFlagsFromString('--expose-gc')
/** Collects all garbage, so that what is held before and after an input can be compared. */
const collect = runInNewContext('gc') as () => void

/** The memory of buffers is given back by another thread, some time after they were collected. */
export async function collectGarbage(): Promise<void> {
  for (let times = 0; times < 2; times++) {
    collect()
    await new Promise(resolve => { setTimeout(resolve, 1) })
  }
}

/** Bytes that this process has allocated and not given back. Threads of codecs and their buffers are in `external`. */
export function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Times, memory and stalls of one run. */
export class Meters {
  readonly inputTime = createHistogram()
  /** As a timer sees it; whatever else the machine does is in it. */
  readonly loopDelay = monitorEventLoopDelay({ resolution: 2 })
  /** What the product did in one turn of the loop, or, where that is less, what this process has spent of processor time meanwhile. */
  readonly turns = createHistogram()
  inputs = 0
  inputBytes = 0
  /** Held the loop for longer than may be, each time it was tried. */
  slowInputs = 0
  slowestMs = 0
  slowestKind = ''
  /** Most that one input allocated, less what it may. */
  worstExcessBytes = -Infinity
  measuredInputs = 0
  mostAllocatedBytes = 0
  private workMs = 0
  private turnCpu = process.cpuUsage()
  peakHeldBytes = 0

  add(bytes: number, tookMs: number): void {
    this.inputs++
    this.workMs += tookMs
    this.inputBytes += bytes
    this.inputTime.record(Math.max(1, Math.round(tookMs * 1e6)))
  }

  /** An input of so many bytes took so many from the heap; false when that is more than it may. */
  addMemory(inputBytes: number, limitBytes: number, allocated: number): boolean {
    this.measuredInputs++
    const excess = allocated - 2 * inputBytes - limitBytes
    this.mostAllocatedBytes = Math.max(this.mostAllocatedBytes, allocated)
    this.worstExcessBytes = Math.max(this.worstExcessBytes, excess)
    return excess <= noiseBytes
  }

  /** Ends a turn of the loop, and begins the next. */
  async turn(): Promise<void> {
    const cpu = process.cpuUsage()
    const spentMs = (cpu.user - this.turnCpu.user + cpu.system - this.turnCpu.system) / 1000
    this.turns.record(Math.max(1, Math.round(Math.min(this.workMs, spentMs) * 1e6)))
    await new Promise(resolve => { setImmediate(resolve) })
    this.begin()
  }

  begin(): void {
    this.workMs = 0
    this.turnCpu = process.cpuUsage()
  }

  sample(): void {
    this.peakHeldBytes = Math.max(this.peakHeldBytes, heldBytes())
  }

  get inputP999Ms(): number {
    return this.inputTime.count === 0 ? 0 : this.inputTime.percentile(99.9) / 1e6
  }

  get turnP999Ms(): number {
    return this.turns.count === 0 ? 0 : this.turns.percentile(99.9) / 1e6
  }
}
