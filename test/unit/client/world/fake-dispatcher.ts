import { type RequestDispatcher } from '../../../../src/kernel/ports/protocol-handler.ts'
import { completeMessage, type FetchResponse } from '../../../../src/wire/index.ts'
import { type FakeCluster, type Span } from './fake-cluster.ts'
import { servedApis, type Call } from './fake-node.ts'

/** The handlers of a fake broker without a socket. What it gave out it takes back at `release`, and overwrites. */
export class FakeDispatcher implements RequestDispatcher {
  private readonly cluster: FakeCluster
  private readonly nodeId: number
  released = 0
  dispatched = 0

  constructor(cluster: FakeCluster, nodeId: number) {
    this.cluster = cluster
    this.nodeId = nodeId
  }

  dispatch(
    apiKey: number, apiVersion: number, request: object, clientId: string | null,
    done: (error: unknown, response: object | undefined, release: () => void) => void,
  ): void {
    this.dispatched++
    const node = this.cluster.nodes.get(this.nodeId)!
    const call: Call = { node, connection: undefined as never, api: servedApis.get(apiKey)!, version: apiVersion, clientId, request }
    this.cluster.calls.push(call)
    const deed = this.cluster.script?.(call)
    const reply = (draft: object | undefined, error?: unknown): void => {
      const response = draft === undefined ? undefined : completeMessage(call.api.response, draft as never) as object
      node.timers.soon(() => { done(error, response, () => { this.takeBack(apiKey, response) }) })
    }
    if (deed === 'swallow') return
    if (deed === 'close') reply(undefined, new Error('closed'))
    else if (typeof deed === 'object') reply(deed.respond)
    else if (apiKey === 0 && (request as { acks: number }).acks === 0) {
      this.cluster.produce(call)
      reply(undefined)
    } else node.answer(call, reply)
  }

  versions(): ReadonlyMap<number, Span> {
    return this.cluster.versions
  }

  private takeBack(apiKey: number, response: object | undefined): void {
    this.released++
    if (apiKey !== 1 || response === undefined) return
    for (const topic of (response as FetchResponse).responses) for (const partition of topic.partitions) partition.records?.fill(0xee)
  }
}
