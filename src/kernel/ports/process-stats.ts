import { token } from '../plugin/token.ts'

/** What the process that a broker runs in has used so far. A broker that is embedded shares it with its host's code. */
export interface ProcessSample {
  /** Of all threads, since the process began, seconds. */
  readonly cpuSeconds: number
  /** Memory that is in RAM. */
  readonly residentBytes: number
  /** Objects on the heap of JavaScript, those included that nobody needs any more. */
  readonly heapUsedBytes: number
  /** That heap, whether used or not. */
  readonly heapBytes: number
  /** Memory of buffers and of native code that the heap's objects hold. */
  readonly externalBytes: number
  /** Time of day, milliseconds since 1970. */
  readonly startedMs: number
  /** How long the event loop ran code, seconds since the process began: its rate is the share of one processor that is used up, and at 1 requests queue. */
  readonly loopBusySeconds: number
  /** Undefined where the system does not tell. */
  readonly openFiles: number | undefined
  /** How many files and sockets the process may have open at once; undefined where the system does not tell, or sets no bound. */
  readonly openFilesMax: number | undefined
}

/** The process as the system sees it. A world without one, as a simulated one, leaves this port out. */
export interface ProcessStats {
  /** The release of millrace, as its package says. */
  readonly version: string
  /** What runs it, for example v20.19.0. */
  readonly nodeVersion: string
  /** Takes well under a millisecond; for whoever looks, not for hot paths. Never throws: what the system does not tell is undefined. */
  read(): ProcessSample
}
export const ProcessStats = token<ProcessStats>('ProcessStats', { read: true })
