import { MillraceError } from '../../kernel/errors/index.ts'
import { type Controller } from '../../kernel/ports/controller.ts'
import { type ServingTools } from './serving-tools.ts'

interface Block {
  readonly first: number
  readonly count: number
}

type Taken = (error: unknown, producerId: number) => void

/** When so small a part of a block is left, the next one is asked for, so that nobody waits for it. */
const prefetchPart = 0.1

/** Producer ids from blocks that the controller gives to this broker. What is left of a block at a stop is never used: ids do not come back. */
export class ProducerIdPool {
  private readonly controller: Controller
  private readonly nodeId: number
  private readonly tools: ServingTools
  private block: Block = { first: 0, count: 0 }
  private used = 0
  private following: Block | undefined
  private asking = false
  private readonly waiting: Taken[] = []

  constructor(controller: Controller, nodeId: number, tools: ServingTools) {
    this.controller = controller
    this.nodeId = nodeId
    this.tools = tools
  }

  /** `taken` is called once, at once if an id is at hand. */
  take(taken: Taken): void {
    const id = this.next()
    if (id === undefined) this.waiting.push(taken)
    if (this.following === undefined && this.block.count - this.used <= this.block.count * prefetchPart) this.ask()
    if (id !== undefined) taken(undefined, id)
  }

  private next(): number | undefined {
    if (this.used >= this.block.count && this.following !== undefined) {
      this.block = this.following
      this.used = 0
      this.following = undefined
    }
    return this.used < this.block.count ? this.block.first + this.used++ : undefined
  }

  private ask(): void {
    if (this.asking) return
    const { brokerEpoch } = this.tools
    if (brokerEpoch < 0) {
      this.failWaiting(new MillraceError('MR_CLUSTER_STOPPED'))
      return
    }
    this.asking = true
    this.controller.allocateProducerIds(this.nodeId, brokerEpoch).then(
      (block) => {
        this.asking = false
        this.following = block
        for (const taken of this.waiting.splice(0)) this.take(taken)
      },
      (error: unknown) => {
        this.asking = false
        this.failWaiting(error)
      },
    )
  }

  private failWaiting(error: unknown): void {
    for (const taken of this.waiting.splice(0)) taken(error, -1)
  }
}
