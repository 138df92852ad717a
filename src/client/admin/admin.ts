import { backoffMs } from '../../base/backoff.ts'
import { isMillraceError, MillraceError } from '../../kernel/errors/index.ts'
import { type RequestDraftOf, type ResponseOf } from '../../wire/index.ts'
import { call } from '../channel/call.ts'
import { type AnyApi, type Channel } from '../channel/channel.ts'
import { closedError, isRetriable } from '../client-error.ts'
import { type LookupParts } from '../cluster/offset-lookup.ts'
import { pause } from '../pause.ts'
import * as args from './admin-arguments.ts'
import { type AdminContext, type AdminOptions, type Whom } from './admin-context.ts'
import * as configs from './configs.ts'
import { type CommittedOffset, type OffsetToCommit } from '../cluster/group-offsets.ts'
import { type TopicPartition } from '../consumer/consumer.ts'
import * as groupOffsets from './group-offsets.ts'
import * as groups from './groups.ts'
import * as partitions from './partitions.ts'
import * as topics from './topics.ts'

export interface AdminParts extends LookupParts {
  /** Called once, at the end of `close`. */
  readonly onClosed: () => Promise<void>
}

/** Nobody is asked again with less time than this: that he did not answer would say less than what he said before. */
const attemptMsMin = 100

/**
 * Asks a cluster about itself and changes it. Each call waits out what passes (a new controller, a lost connection) until its time is up, and rejects with
 * the error that stands for the broker's answer. What the broker does not serve is MR_CLIENT_UNSUPPORTED, and what is no argument of a call
 * MR_CLIENT_SETTING.
 */
export class Admin implements AdminContext {
  private readonly parts: AdminParts
  private closing: Promise<void> | undefined
  private readonly abort = new AbortController()

  constructor(parts: AdminParts) {
    this.parts = parts
  }

  /** Of the inside of the client, as the three below: not for applications, and free to change. */
  get world(): LookupParts['world'] { return this.parts.world }
  /** Of the inside of the client. */
  get client(): LookupParts['client'] { return this.parts.client }
  /** Of the inside of the client. */
  get pool(): LookupParts['pool'] { return this.parts.pool }
  /** Of the inside of the client. */
  get metadata(): LookupParts['metadata'] { return this.parts.metadata }

  /** All or as many as could be are created; rejects with the first failure. MR_TOPIC_EXISTS, MR_TOPIC_NAME_INVALID and others. */
  async createTopics(list: readonly topics.NewTopic[], options: topics.CreateTopicsOptions = {}): Promise<topics.CreatedTopic[]> {
    args.checkList('admin.createTopics', list, args.newTopic)
    args.checkShape('admin.createTopics', 'options', options, args.changeOptions)
    return topics.createTopics(this, list, options)
  }

  /** All or as many as could be are deleted; rejects with the first failure. MR_TOPIC_UNKNOWN for one that is not there. */
  async deleteTopics(names: readonly string[], options: AdminOptions = {}): Promise<void> {
    args.checkNames('admin.deleteTopics', names)
    args.checkShape('admin.deleteTopics', 'options', options, args.adminOptions)
    return topics.deleteTopics(this, names, options)
  }

  /** The topics that this client may see, by name; internal ones only if asked for. */
  async listTopics(options: topics.ListTopicsOptions = {}): Promise<topics.TopicListing[]> {
    args.checkShape('admin.listTopics', 'options', options, args.listTopicsOptions)
    return topics.listTopics(this, options)
  }

  /** In the order of the names. Rejects with MR_TOPIC_UNKNOWN when one does not exist; nothing is created by asking. */
  async describeTopics(names: readonly string[], options: AdminOptions = {}): Promise<topics.TopicDescription[]> {
    args.checkNames('admin.describeTopics', names)
    args.checkShape('admin.describeTopics', 'options', options, args.adminOptions)
    return topics.describeTopics(this, names, options)
  }

  /** Makes topics have so many partitions in all. Keys may then go elsewhere than before. */
  async createPartitions(list: readonly topics.MorePartitions[], options: topics.CreateTopicsOptions = {}): Promise<void> {
    args.checkList('admin.createPartitions', list, args.morePartitions)
    args.checkShape('admin.createPartitions', 'options', options, args.changeOptions)
    return topics.createPartitions(this, list, options)
  }

  /** Every setting of each resource, those at their default included. In the order of the resources. */
  async describeConfigs(resources: readonly configs.ConfigResource[], options: configs.DescribeConfigsOptions = {}): Promise<configs.ConfigDescription[]> {
    args.checkList('admin.describeConfigs', resources, args.configResource)
    args.checkShape('admin.describeConfigs', 'options', options, args.describeConfigsOptions)
    return configs.describeConfigs(this, resources, options)
  }

  /** Changes single settings and leaves all others alone. */
  async incrementalAlterConfigs(changes: readonly configs.ConfigChanges[], options: configs.AlterConfigsOptions = {}): Promise<void> {
    args.checkChanges('admin.incrementalAlterConfigs', changes)
    args.checkShape('admin.incrementalAlterConfigs', 'options', options, args.changeOptions)
    return configs.incrementalAlterConfigs(this, changes, options)
  }

  /** The brokers of the cluster, and which of them is the controller. Asks any broker. */
  async describeCluster(options: AdminOptions = {}): Promise<partitions.ClusterDescription> {
    args.checkShape('admin.describeCluster', 'options', options, args.adminOptions)
    return partitions.describeCluster(this, options)
  }

  /** Offsets by time or end of the log. In the order of the questions. */
  async listOffsets(questions: readonly partitions.OffsetWanted[], options: partitions.ListOffsetsOptions = {}): Promise<partitions.OffsetFound[]> {
    args.checkList('admin.listOffsets', questions, args.offsetWanted)
    args.checkShape('admin.listOffsets', 'options', options, args.listOffsetsOptions)
    return partitions.listOffsets(this, questions, options)
  }

  /** Deletes records below an offset; -1 means all that may be read. Gives the new log start offsets, in the order given. */
  async deleteRecords(list: readonly partitions.RecordsToDelete[], options: AdminOptions = {}): Promise<partitions.LogStart[]> {
    args.checkList('admin.deleteRecords', list, args.recordsToDelete)
    args.checkShape('admin.deleteRecords', 'options', options, args.adminOptions)
    return partitions.deleteRecords(this, list, options)
  }

  /** The groups of all brokers, by name: of consumers and of others. */
  async listGroups(options: groups.ListGroupsOptions = {}): Promise<groups.GroupListing[]> {
    args.checkShape('admin.listGroups', 'options', options, args.listGroupsOptions)
    return groups.listGroups(this, options)
  }

  /** Of either protocol, with their members. In the order of the names; rejects with MR_CLIENT_GROUP_UNKNOWN for one that is not there. */
  async describeGroups(names: readonly string[], options: AdminOptions = {}): Promise<groups.GroupDescription[]> {
    args.checkNames('admin.describeGroups', names)
    args.checkShape('admin.describeGroups', 'options', options, args.adminOptions)
    return groups.describeGroups(this, names, options)
  }

  /** What a group has committed: of these partitions, offset -1 where nothing; or, without them, of all that have something. A group that is not there has nothing. */
  async listGroupOffsets(groupId: string, partitions?: readonly TopicPartition[], options: AdminOptions = {}): Promise<CommittedOffset[]> {
    args.checkText('admin.listGroupOffsets', 'groupId', groupId)
    if (partitions !== undefined) args.checkList('admin.listGroupOffsets', partitions, args.partitionNamed)
    args.checkShape('admin.listGroupOffsets', 'options', options, args.adminOptions)
    return groupOffsets.listGroupOffsets(this, groupId, partitions, options)
  }

  /** Sets where a group goes on, while it has no members; else rejects with MR_CLIENT_GROUP_NOT_EMPTY. Makes the group if it is not there. */
  async alterGroupOffsets(groupId: string, offsets: readonly OffsetToCommit[], options: AdminOptions = {}): Promise<void> {
    args.checkText('admin.alterGroupOffsets', 'groupId', groupId)
    args.checkList('admin.alterGroupOffsets', offsets, args.offsetToCommit)
    args.checkShape('admin.alterGroupOffsets', 'options', options, args.adminOptions)
    return groupOffsets.alterGroupOffsets(this, groupId, offsets, options)
  }

  /** Forgets what a group has committed of partitions whose topics none of its members reads; else rejects with MR_CLIENT_GROUP_NOT_EMPTY. */
  async deleteGroupOffsets(groupId: string, partitions: readonly TopicPartition[], options: AdminOptions = {}): Promise<void> {
    args.checkText('admin.deleteGroupOffsets', 'groupId', groupId)
    args.checkList('admin.deleteGroupOffsets', partitions, args.partitionNamed)
    args.checkShape('admin.deleteGroupOffsets', 'options', options, args.adminOptions)
    return groupOffsets.deleteGroupOffsets(this, groupId, partitions, options)
  }

  /** Deletes groups without members, with their offsets; rejects with MR_CLIENT_GROUP_NOT_EMPTY or MR_CLIENT_GROUP_UNKNOWN. All that can be are deleted. */
  async deleteGroups(names: readonly string[], options: AdminOptions = {}): Promise<void> {
    args.checkNames('admin.deleteGroups', names)
    args.checkShape('admin.deleteGroups', 'options', options, args.adminOptions)
    return groups.deleteGroups(this, names, options)
  }

  /** Calls under way reject with MR_CLIENT_CLOSED. */
  close(): Promise<void> {
    this.closing ??= this.shut()
    return this.closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Of the inside of the client. */
  async ask<A extends AnyApi, T>(
    whom: Whom, api: A, build: (version: number) => RequestDraftOf<A>, take: (response: ResponseOf<A>) => T,
    options: AdminOptions & { readonly oldest?: number, readonly newest?: number },
  ): Promise<T> {
    if (this.closing !== undefined) throw closedError('admin client')
    const { world, client } = this.parts
    const timeoutMs = options.timeoutMs ?? client.requestTimeoutMs
    const deadlineMs = world.clock.monotonicMs() + timeoutMs
    const signal = options.signal === undefined ? this.abort.signal : AbortSignal.any([options.signal, this.abort.signal])
    const bounds = { ...(options.oldest === undefined ? {} : { oldest: options.oldest }), ...(options.newest === undefined ? {} : { newest: options.newest }) }
    for (let attempt = 1; ; attempt++) {
      const remainingMs = Math.max(1, deadlineMs - world.clock.monotonicMs())
      const pauseMs = backoffMs(attempt, client.backoff, () => world.random.fraction())
      try {
        const channel = await this.channelTo(whom, attempt, remainingMs, signal)
        const requestMs = Math.min(remainingMs, client.requestTimeoutMs)
        return take(await call(channel, api, build, { timeoutMs: requestMs, signal, ...bounds }))
      } catch (error) {
        // That there is no such topic may pass for who waits for one; for who asks, it is the answer.
        if (isMillraceError(error, 'MR_TOPIC_UNKNOWN')) throw error
        if (!isRetriable(error) || signal.aborted || world.clock.monotonicMs() + pauseMs + attemptMsMin > deadlineMs) throw error
        this.parts.metadata.refresh()
        if (typeof whom === 'object' && 'coordinator' in whom) whom.coordinator.forget()
      }
      await pause(world.timers, pauseMs, signal)
    }
  }

  private async channelTo(whom: Whom, attempt: number, timeoutMs: number, signal: AbortSignal): Promise<Channel> {
    const { pool, metadata } = this.parts
    if (typeof whom === 'object' && 'coordinator' in whom) return whom.coordinator.channel('control', { timeoutMs, signal })
    if (whom === 'anybody') return pool.anyChannel(attempt - 1)
    const look = (): Channel | undefined => {
      const nodeId = whom === 'controller' ? metadata.controllerId : whom.nodeId
      return nodeId < 0 ? undefined : pool.channel(nodeId, 'control')
    }
    const late = (): Error => metadata.lastFailure instanceof Error
      ? metadata.lastFailure
      : new MillraceError('MR_CLIENT_NO_BROKERS', { brokers: whom === 'controller' ? 'the controller' : `broker ${whom.nodeId}`, reason: 'the cluster does not name it' })
    return metadata.waitFor(look, { timeoutMs, signal, late })
  }

  private async shut(): Promise<void> {
    this.abort.abort(closedError('admin client'))
    await this.parts.onClosed()
  }
}
