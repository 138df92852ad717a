import { readdirSync, readFileSync } from 'node:fs'

/** CPU time of each thread of a process so far, in nanoseconds. Linux only. */
function threadTimes (pid: number): Map<string, number> {
  const times = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      times.set(thread, Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]))
    } catch {
      // The thread ended in between
    }
  }
  return times
}

/**
 * Begins to measure a process; the returned function says how many nanoseconds of CPU its threads have used since.
 * Time of threads that ended since is left out.
 */
export function startCpuMeter (pid: number): () => number {
  const before = threadTimes(pid)
  return () => {
    let sum = 0
    for (const [thread, time] of threadTimes(pid)) sum += time - (before.get(thread) ?? 0)
    return sum
  }
}

function statusBytes (pid: number, field: string): number {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return found ? Number(found[1]) * 1024 : NaN
}

/** Resident memory of a process now, and at most so far, in bytes. */
export function residentBytes (pid: number): { now: number; peak: number } {
  return { now: statusBytes(pid, 'VmRSS'), peak: statusBytes(pid, 'VmHWM') }
}
