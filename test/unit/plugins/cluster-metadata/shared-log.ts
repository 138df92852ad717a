import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { type Consensus, type ReplicatedMachine } from '../../../../src/kernel/ports/consensus.ts'

interface Pending {
  readonly commands: readonly Uint8Array[]
  readonly resolve: (index: number) => void
  readonly reject: (error: unknown) => void
}

interface Member {
  machine: ReplicatedMachine | undefined
  applied: number
}

/**
 * Several nodes over one agreed log, as a consensus of several voters looks from outside: the test says when what was appended is committed,
 * when a node hears of it, and when another node leads.
 */
export class SharedLog {
  readonly log: { readonly term: number, readonly command: Uint8Array }[] = []
  readonly members: readonly Member[]
  leader = 0
  private term = 0
  private pending: Pending[] = []

  constructor(nodes: number) {
    this.members = Array.from({ length: nodes }, () => ({ machine: undefined, applied: 0 }))
  }

  consensus(node: number): Consensus {
    const member = this.members[node]!
    return {
      open: (machine) => {
        member.machine = machine
        machine.restore(0, undefined)
        this.catchUp(node)
        if (this.leader === node) machine.led(++this.term)
        return Promise.resolve()
      },
      append: (commands) => {
        if (this.leader !== node) return Promise.reject(new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: node, leaderId: this.leader }))
        return new Promise((resolve, reject) => this.pending.push({ commands: commands.map((command) => command.slice()), resolve, reject }))
      },
      checkSpace: () => {},
      barrier: () => Promise.resolve(),
      status: () => ({
        nodeId: node, leaderId: this.leader, term: this.term, lastIndex: this.log.length, commitIndex: this.log.length, appliedIndex: member.applied, voters: [],
      }),
    }
  }

  get waiting(): number {
    return this.pending.length
  }

  /** Commits the first `count` appends, and applies them on the leader. */
  commit(count: number): void {
    for (const { resolve } of this.take(count)) {
      this.catchUp(this.leader)
      resolve(this.log.length)
    }
  }

  /** The node applies all that is committed. */
  catchUp(node: number): void {
    const member = this.members[node]!
    while (member.machine !== undefined && member.applied < this.log.length) {
      const { term, command } = this.log[member.applied]!
      member.applied++
      member.machine.apply(member.applied, term, command)
    }
  }

  /** Another node leads. Of what was appended and not committed the first `kept` appends are, though nobody is told; the rest is lost. */
  elect(node: number, kept: number): void {
    const orphans = [...this.take(kept), ...this.pending]
    this.pending = []
    const before = this.members[this.leader]!.machine
    this.leader = node
    this.term++
    before?.lost()
    for (const { reject } of orphans) reject(new MillraceError('MR_CLUSTER_STOPPED'))
    this.catchUp(node)
    this.members[node]!.machine?.led(this.term)
  }

  private take(count: number): Pending[] {
    const taken = this.pending.splice(0, count)
    for (const { commands } of taken) for (const command of commands) this.log.push({ term: this.term, command })
    return taken
  }
}
