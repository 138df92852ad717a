import { type Uuid } from '../model/ids.ts'
import { type TopicSettings } from '../model/topic-settings.ts'
import { token } from '../plugin/token.ts'
import { type AppendOutcome, type PartitionLog } from './partition-log.ts'

/** Waits for a watermark of one partition. Exactly one of the two is called, once, unless it was cancelled. */
export interface WatermarkWaiter {
  /** Woken when the high watermark is at or above it. */
  readonly offset: number
  /** In a microtask after the move, so that all appends of one turn wake it once. Must not throw. */
  reached(): void
  /** Leadership was lost, the topic deleted, or the log failed: MR_REPLICA_NOT_LEADER, MR_TOPIC_UNKNOWN, MR_LOG_DIRECTORY_OFFLINE. */
  failed(error: unknown): void
}

/** This broker's replica of a partition. Objects are stable while the replica stays here: keep them, do not look up each time. */
export interface Replica {
  /** The same object for as long as the replica is here. */
  readonly log: PartitionLog
  /** Of the topic; replaced when they change. */
  readonly settings: TopicSettings
  /** Whether this broker leads the partition now: only then it appends. */
  readonly leader: boolean
  /** Why its log serves no more, for good: damaged, or its directory is offline. Undefined, or not there, while it does. */
  readonly failure?: unknown
  /** Of whoever leads: larger each time a leader is named. What is appended carries it. */
  readonly leaderEpoch: number
  /** The least flushed offset of the in-sync replicas: what consumers may see. Only moves forward while the leader stays. */
  readonly highWatermark: number
  /** What read_committed consumers may see; at most the high watermark. */
  readonly lastStableOffset: number
  /** Appends a checked batch as leader, see PartitionLog.append. MR_REPLICA_NOT_LEADER when this broker does not lead it. */
  append(bytes: Uint8Array, at: number, length: number): AppendOutcome
  /** Registers a waiter; one whose offset is reached already is woken too. Throws nothing: what is wrong with the replica is told to the waiter. */
  wait(waiter: WatermarkWaiter): void
  /** It is called no more. Fine when it was woken already; throws nothing. */
  cancel(waiter: WatermarkWaiter): void
}

/**
 * Keeps the replicas that the cluster metadata places on this broker, and moves their high watermarks. The replicas of a new topic come one
 * after another, over as many turns of the event loop as their logs take.
 */
export interface Replicator {
  /** Undefined when this broker has no replica of it, or has not made it yet. From memory: throws nothing. */
  replica(topicId: Uuid, partition: number): Replica | undefined
  /** All that are made on this broker, in no order that counts. From memory: throws nothing. */
  replicas(): Iterable<Replica>
  /** Whether there is no replica of it because its turn has not come yet. False for one that could not be made. From memory: throws nothing. */
  isMaking(topicId: Uuid, partition: number): boolean
  /**
   * Resolves when no replica of the topic is being made: all are there that could be made, or the topic is deleted or not known. Rejects with
   * MR_CLUSTER_STOPPED when the broker stops before; its next start makes the rest.
   */
  made(topicId: Uuid): Promise<void>
}
export const Replicator = token<Replicator>('Replicator', { replica: true, replicas: true, isMaking: true, made: true })
