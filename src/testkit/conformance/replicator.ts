import { type LogStore } from '../../kernel/ports/log-store.ts'
import { type TopicImage } from '../../kernel/ports/cluster-metadata.ts'
import { type Replica, type Replicator, type WatermarkWaiter } from '../../kernel/ports/replicator.ts'
import { check, checkCode, checkEqual, checkThrows, type DeclareTest } from './kit.ts'
import { makeBatch, newTopicId } from './log-store-subject.ts'
import { soleTopic, type ManualMetadata } from './replicator-metadata.ts'

/** A replicator of its own for one test, started over metadata without topics. */
export interface ReplicatorSubject {
  readonly replicator: Replicator
  /** The node of the replicator. */
  readonly nodeId: number
  readonly metadata: ManualMetadata
  readonly store: LogStore
  /** Lets what is under way (syncs, copies) come to its end, and all callbacks run. */
  settle(): Promise<void>
  stop(): Promise<void>
}

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface ReplicatorConformance {
  readonly test: DeclareTest
  readonly create: () => Promise<ReplicatorSubject>
}

interface Claim {
  readonly title: string
  readonly body: (subject: ReplicatorSubject) => Promise<void>
}

/** A waiter that notes what happened to it. */
class NotedWaiter implements WatermarkWaiter {
  readonly offset: number
  readonly calls: string[]
  readonly name: string
  error: unknown

  constructor(offset: number, calls: string[] = [], name = String(offset)) {
    this.offset = offset
    this.calls = calls
    this.name = name
  }

  reached(): void {
    this.calls.push(this.name)
  }

  failed(error: unknown): void {
    this.calls.push(`${this.name} failed`)
    this.error = error
  }
}

async function lead(subject: ReplicatorSubject, partitions = 1, leaderEpoch = 0): Promise<{ topic: TopicImage, replica: Replica }> {
  const topic = subject.metadata.put(soleTopic('led', newTopicId(), Array.from({ length: partitions }, () => subject.nodeId), {}, leaderEpoch))
  await made(subject, topic)
  return { topic, replica: replicaOf(subject, topic) }
}

/** Waits for the replicas of a topic. */
async function made(subject: ReplicatorSubject, topic: TopicImage): Promise<void> {
  let isMade = false
  const end = subject.replicator.made(topic.id).then(() => { isMade = true })
  await subject.settle()
  check(isMade, 'a topic is made when all that is under way has ended')
  await end
}

function replicaOf(subject: ReplicatorSubject, topic: TopicImage, partition = 0): Replica {
  const replica = subject.replicator.replica(topic.id, partition)
  check(replica !== undefined, 'a partition that is placed here has a replica')
  return replica
}

const append = (replica: Replica, records = 1) => {
  const batch = makeBatch(records)
  return replica.append(batch, 0, batch.length)
}

const claim = (title: string, body: Claim['body']): Claim => ({ title, body })

const placementClaims: readonly Claim[] = [
  claim('partitions placed here have a replica and a log, others have neither', async (subject) => {
    const { nodeId, metadata, replicator, store } = subject
    const topic = metadata.put(soleTopic('mixed', newTopicId(), [nodeId, nodeId + 1, nodeId]))
    await made(subject, topic)
    checkEqual([0, 1, 2, 3].map(partition => replicator.isMaking(topic.id, partition)), [false, false, false, false], 'replicas being made')
    checkEqual([0, 1, 2, 3].map(partition => replicator.replica(topic.id, partition) !== undefined), [true, false, true, false], 'replicas here')
    checkEqual([0, 1, 2].map(partition => store.find(topic.id, partition) !== undefined), [true, false, true], 'logs here')
    checkEqual(replicator.replica(newTopicId(), 0), undefined, 'replica of an unknown topic')
    checkEqual([...replicator.replicas()].map(replica => replica.log.id.partition).sort(), [0, 2], 'all replicas')
    checkEqual(replicaOf(subject, topic).log, store.find(topic.id, 0), 'the log of the replica')
  }),
  claim('a replica stays the same object while its topic changes, and has the new settings and epoch', async (subject) => {
    const { topic, replica } = await lead(subject)
    const changed = subject.metadata.put(soleTopic(topic.name, topic.id, [subject.nodeId], { maxMessageBytes: 77 }, 5))
    check(replicaOf(subject, topic) === replica, 'the object is stable')
    checkEqual(replica.settings, changed.settings, 'settings')
    checkEqual([replica.leader, replica.leaderEpoch], [true, 5], 'leader and epoch')
  }),
  claim('partitions that are added get replicas, those that were there keep theirs', async (subject) => {
    const { topic, replica } = await lead(subject)
    append(replica, 3)
    subject.metadata.put(soleTopic(topic.name, topic.id, [subject.nodeId, subject.nodeId]))
    await made(subject, topic)
    check(replicaOf(subject, topic) === replica, 'the object is stable')
    checkEqual([replica.log.endOffset, replicaOf(subject, topic, 1).log.endOffset], [3, 0], 'log ends')
  }),
  claim('a deleted topic has no replica and no log, and one made again under its name begins empty', async (subject) => {
    const { topic, replica } = await lead(subject)
    append(replica)
    subject.metadata.drop(topic)
    checkEqual(subject.replicator.replica(topic.id, 0), undefined, 'replica after the deletion')
    checkThrows('MR_TOPIC_UNKNOWN', () => append(replica), 'append to what was deleted')
    await subject.settle()
    checkEqual(subject.store.find(topic.id, 0), undefined, 'log after the deletion')
    checkEqual((await lead(subject)).replica.log.endOffset, 0, 'log end of the new topic')
  }),
]

const watermarkClaims: readonly Claim[] = [
  claim('appends get the next offsets, and the epoch of the leader', async (subject) => {
    const { replica } = await lead(subject, 1, 4)
    const outcomes = [append(replica, 2), append(replica), append(replica, 3)]
    checkEqual(outcomes.map(outcome => outcome.baseOffset), [0, 2, 3], 'base offsets')
    checkEqual(outcomes.map(outcome => outcome.lastOffset), [1, 2, 5], 'last offsets')
    checkEqual(replica.log.lastEpoch, 4, 'epoch of the log')
  }),
  claim('the high watermark never passes the flushed offset, reaches the log end, and the log learns of it', async (subject) => {
    const { replica } = await lead(subject)
    for (let count = 0; count < 5; count++) {
      append(replica)
      check(replica.highWatermark <= replica.log.flushedOffset, 'the high watermark is at most the flushed offset')
      check(replica.lastStableOffset <= replica.highWatermark, 'the last stable offset is at most the high watermark')
    }
    await subject.settle()
    checkEqual([replica.highWatermark, replica.lastStableOffset, replica.log.highWatermark], [5, 5, 5], 'watermarks')
  }),
  claim('waiters are woken when their offset is reached, each once, lowest first', async (subject) => {
    const { replica } = await lead(subject)
    const calls: string[] = []
    for (const offset of [3, 1, 4, 1, 9, 2]) replica.wait(new NotedWaiter(offset, calls))
    for (let count = 0; count < 4; count++) append(replica)
    checkEqual(calls, [], 'nobody is woken within an append')
    await subject.settle()
    checkEqual(calls, ['1', '1', '2', '3', '4'], 'woken')
    for (let count = 0; count < 5; count++) append(replica)
    await subject.settle()
    checkEqual(calls, ['1', '1', '2', '3', '4', '9'], 'woken later')
  }),
  claim('a waiter whose offset was reached before is woken too, and not within the call', async (subject) => {
    const { replica } = await lead(subject)
    append(replica)
    await subject.settle()
    const waiter = new NotedWaiter(1)
    replica.wait(waiter)
    checkEqual(waiter.calls, [], 'calls within wait')
    await subject.settle()
    checkEqual(waiter.calls, ['1'], 'calls')
  }),
  claim('a cancelled waiter is never called, also when another one cancels it while both are woken', async (subject) => {
    const { replica } = await lead(subject)
    const calls: string[] = []
    const first = new NotedWaiter(1, calls, 'first')
    const third = new NotedWaiter(1, calls, 'third')
    const second: WatermarkWaiter = {
      offset: 1,
      reached: () => {
        calls.push('second')
        replica.cancel(third)
      },
      failed: () => calls.push('failed'),
    }
    for (const waiter of [first, second, third]) replica.wait(waiter)
    replica.cancel(first)
    append(replica)
    await subject.settle()
    checkEqual(calls, ['second'], 'calls')
    replica.cancel(third)
    replica.cancel(second)
  }),
  claim('a waiter may wait again while it is woken', async (subject) => {
    const { replica } = await lead(subject)
    const calls: string[] = []
    replica.wait({ offset: 1, reached: () => replica.wait(new NotedWaiter(1, calls, 'again')), failed: () => calls.push('failed') })
    append(replica)
    await subject.settle()
    checkEqual(calls, ['again'], 'calls')
  }),
]

const lossClaims: readonly Claim[] = [
  claim('deleting a topic fails its waiters with MR_TOPIC_UNKNOWN, each once', async (subject) => {
    const { topic, replica } = await lead(subject)
    const waiters = [new NotedWaiter(1), new NotedWaiter(2)]
    for (const waiter of waiters) replica.wait(waiter)
    subject.metadata.drop(topic)
    await subject.settle()
    for (const waiter of waiters) {
      checkEqual(waiter.calls, [`${waiter.offset} failed`], 'calls')
      checkCode('MR_TOPIC_UNKNOWN', waiter.error, 'the reason')
    }
    const late = new NotedWaiter(1)
    replica.wait(late)
    await subject.settle()
    checkCode('MR_TOPIC_UNKNOWN', late.error, 'the reason for one that comes later')
  }),
  claim('a broker that does not lead appends nothing, and its waiters fail with MR_REPLICA_NOT_LEADER', async (subject) => {
    const { topic, replica } = await lead(subject)
    const waiter = new NotedWaiter(1)
    replica.wait(waiter)
    const [partition] = topic.partitions
    subject.metadata.put({ ...topic, partitions: [{ ...partition!, leader: -1 }] })
    checkThrows('MR_REPLICA_NOT_LEADER', () => append(replica), 'append without leadership')
    await subject.settle()
    checkCode('MR_REPLICA_NOT_LEADER', waiter.error, 'the reason')
    subject.metadata.put({ ...topic, partitions: [{ ...partition!, leaderEpoch: 1 }] })
    checkEqual(append(replica).baseOffset, 0, 'offset of the first append after it leads again')
  }),
]

/** What a replicator promises (kernel/ports/replicator) where each partition has one replica, as tests. */
export function replicatorConformance({ test, create }: ReplicatorConformance): void {
  for (const { title, body } of [...placementClaims, ...watermarkClaims, ...lossClaims]) {
    test(title, async () => {
      const subject = await create()
      try {
        await body(subject)
      } finally {
        await subject.stop()
      }
    })
  }
}
