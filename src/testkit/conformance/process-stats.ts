import { type ProcessSample, type ProcessStats } from '../../kernel/ports/process-stats.ts'
import { check, checkEqual, type DeclareTest } from './kit.ts'

/** A ProcessStats to examine. */
export interface ProcessStatsConformance {
  readonly test: DeclareTest
  readonly create: () => ProcessStats
  /** Lets the process work so much that it shows in what it has used. Default: this one computes, until it does. */
  readonly work?: (stats: ProcessStats) => void
}

const sizes = ['residentBytes', 'heapUsedBytes', 'heapBytes', 'externalBytes'] as const

/** What every ProcessStats promises. */
export function processStatsConformance({ test, create, work = compute }: ProcessStatsConformance): void {
  const claim = (title: string, body: (stats: ProcessStats) => void): void => {
    test(title, async () => { body(create()) })
  }

  claim('the releases are told, and stay what they are', stats => {
    const told = [stats.version, stats.nodeVersion]
    check(told.every(each => typeof each === 'string' && /\d/.test(each)), `${told.join(' and ')} name releases`)
    stats.read()
    checkEqual([stats.version, stats.nodeVersion], told, 'the releases, later')
  })
  claim('sizes are whole numbers of bytes, and the heap that is used is no more than there is', stats => {
    const sample = stats.read()
    for (const size of sizes) check(Number.isSafeInteger(sample[size]) && sample[size] >= 0, `${size} is ${sample[size]}`)
    check(sample.heapUsedBytes <= sample.heapBytes, `${sample.heapUsedBytes} bytes are used of a heap of ${sample.heapBytes}`)
    check(sample.openFiles === undefined || (Number.isSafeInteger(sample.openFiles) && sample.openFiles >= 0), `open files: ${sample.openFiles}`)
    const { openFiles = 0, openFilesMax } = sample
    check(openFilesMax === undefined || (Number.isSafeInteger(openFilesMax) && openFilesMax >= openFiles), `${openFiles} files are open, of ${openFilesMax}`)
  })
  claim('the start is a time of day, and the same at each look', stats => {
    const { startedMs } = stats.read()
    check(startedMs > 1_000_000_000_000 && startedMs < 10_000_000_000_000, `${startedMs} is in milliseconds since 1970`)
    checkEqual(stats.read().startedMs, startedMs, 'the start, later')
  })
  claim('what was used is in seconds and never falls, and grows with work', stats => {
    let before: ProcessSample = stats.read()
    check(before.cpuSeconds >= 0 && before.loopBusySeconds >= 0, 'it begins at zero or above')
    for (let look = 0; look < 20; look++) {
      const now = stats.read()
      check(now.cpuSeconds >= before.cpuSeconds && now.loopBusySeconds >= before.loopBusySeconds, `${now.cpuSeconds} s and ${now.loopBusySeconds} s are no less than ${before.cpuSeconds} s and ${before.loopBusySeconds} s`)
      before = now
    }
    work(stats)
    check(stats.read().cpuSeconds > before.cpuSeconds, 'work shows in cpuSeconds')
  })
}

/** The bound is minutes of work: what counts nothing ends there. */
function compute(stats: ProcessStats): void {
  const before = stats.read().cpuSeconds
  for (let round = 0; round < 5000 && stats.read().cpuSeconds <= before; round++) {
    let sum = 0
    for (let step = 0; step < 100_000; step++) sum = (sum * 31 + step) >>> 0
    if (sum < 0) return
  }
}
