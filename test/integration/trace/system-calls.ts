import { spawnSync } from 'node:child_process'

/** A system call; where it began and ended are places in the order in which the tracer saw these. */
export interface SystemCall {
  readonly name: string
  /** What strace prints of the first argument's descriptor: a path, or `TCP:[…]`. */
  readonly of: string
  /** The other arguments as text. */
  readonly rest: string
  readonly result: number
  readonly began: number
  readonly ended: number
}

const reading = ['read', 'readv', 'recvfrom', 'recvmsg']
const writing = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg']
const syncing = ['fsync', 'fdatasync', 'sync_file_range', 'msync']
/** What is done through a ring that the kernel polls would not be seen. */
const ringSetup = 'io_uring_setup'

/**
 * Put before a command. `-D`: the command stays a child of whoever started it, and gets its signals. Newer releases of Node may hand calls to the
 * kernel through a ring, where nobody sees them; they are told not to.
 */
export const straceCommand = (file: string): string[] =>
  ['strace', '-D', '-f', '-ttt', '-yy', '-s', '16384', '-e', `trace=${[...reading, ...writing, ...syncing, ringSetup].join(',')}`, '-e', 'signal=none', '-E', 'UV_USE_IO_URING=0', '-o', file]

/** Whether processes can be traced here: strace is there, and may. */
export const canTrace = (): boolean => spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0

const whole = /^(\d+) +[\d.]+ (\w+)\((?:\d+<(.*?)>(?=[,)]))?(.*)\) += (-?\d+)/s
const unfinished = /^(\d+) +[\d.]+ (\w+\(.*) <unfinished \.\.\.>$/s
const resumed = /^(\d+) +[\d.]+ <\.\.\. \w+ resumed>(.*)$/s

/** The calls in a file of strace, in the order of their ends. */
export function callsIn(text: string): SystemCall[] {
  const calls: SystemCall[] = []
  const begun = new Map<string, { readonly at: number, readonly head: string }>()
  for (const [at, line] of text.split('\n').entries()) {
    const first = unfinished.exec(line)
    if (first !== null) {
      begun.set(first[1]!, { at, head: first[2]! })
      continue
    }
    const last = resumed.exec(line)
    const before = last === null ? undefined : begun.get(last[1]!)
    const found = whole.exec(last === null ? line : before === undefined ? '' : `${last[1]} 0 ${before.head}${last[2]}`)
    if (found !== null) calls.push({ name: found[2]!, of: found[3] ?? '', rest: found[4]!, result: Number(found[5]), began: before?.at ?? at, ended: at })
  }
  return calls
}

export interface Reply {
  readonly mark: string
  /** What was synced between the write of the record and the reply; empty: nothing that holds it. */
  readonly syncedIn: readonly string[]
  readonly writtenTo: readonly string[]
}

/**
 * Of each record that has a mark and came on a connection which had no other request under way: whether its reply, the next bytes on that connection, left after a
 * sync, begun after the write, of a file that it was written to. Marks of which no request is found, and requests without a reply, are left out.
 */
export function repliesIn(calls: readonly SystemCall[], marks: readonly string[]): Reply[] {
  const isSocket = (call: SystemCall): boolean => call.of.startsWith('TCP:')
  return marks.flatMap(mark => {
    const request = calls.find(call => reading.includes(call.name) && isSocket(call) && call.rest.includes(mark))
    const reply = request === undefined ? undefined : calls.find(call => writing.includes(call.name) && call.of === request.of && call.began > request.ended)
    if (reply === undefined) return []
    const writes = calls.filter(call => writing.includes(call.name) && !isSocket(call) && call.rest.includes(mark) && call.result > 0)
    const syncedIn = writes.filter(write => calls.some(sync =>
      syncing.slice(0, 2).includes(sync.name) && sync.of === write.of && sync.result === 0 && sync.began > write.ended && sync.ended < reply.began))
    return [{ mark, syncedIn: syncedIn.map(write => write.of), writtenTo: writes.map(write => write.of) }]
  })
}

/** libuv files calls in a ring that the kernel polls; in its others there is only what to wait for. */
export const usesRings = (calls: readonly SystemCall[]): boolean => calls.some(({ name, rest }) => name === ringSetup && rest.includes('IORING_SETUP_SQPOLL'))
