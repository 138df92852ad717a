import { durationMs, integer, settingError } from '../client-options.ts'
import { type OffsetReset } from '../consumer/consumer-settings.ts'
import { type Assignor } from './core/assignor.ts'
import { rangeAssignor } from './core/range-assignor.ts'
import { roundRobinAssignor } from './core/round-robin-assignor.ts'
import { cooperativeStickyAssignor, stickyAssignor } from './core/sticky-assignor.ts'

const assignorsByName: ReadonlyMap<string, Assignor> = new Map([cooperativeStickyAssignor, stickyAssignor, rangeAssignor, roundRobinAssignor].map(each => [each.name, each]))

/** Ways in which members of the classic protocol share partitions out, by the names that Kafka's clients have for them. */
export type AssignorName = 'cooperative-sticky' | 'sticky' | 'range' | 'roundrobin'

/** Where a partition is begun of which the group has committed nothing: at an end, so long ago, or nowhere: `poll` rejects then. */
export type GroupOffsetReset = OffsetReset | { readonly durationMs: number }

/**
 * How a member takes part in its group. Durations are whole numbers of milliseconds from 1 to 2147483647; what is out of its range, and a heartbeat interval
 * that is not below the session timeout, is refused with MR_CLIENT_SETTING, which names the option.
 */
export interface GroupOptions {
  /** The group to join. Its members share the partitions of their topics. */
  readonly groupId: string
  /** A name for this member that outlives it: who comes back with it within `sessionTimeoutMs` has the same partitions, without a rebalance (KIP-345). */
  readonly groupInstanceId?: string
  /** `classic`: members share the partitions out themselves; `consumer`: the coordinator does (KIP-848). Default `classic`. */
  readonly groupProtocol?: 'classic' | 'consumer'
  /** Classic protocol: how partitions are shared out, by preference; all members need one in common. Default `['cooperative-sticky']`. */
  readonly assignors?: readonly AssignorName[]
  /** Consumer protocol: `uniform`, `range` or another that the broker has. Default: the broker's first. */
  readonly serverAssignor?: string
  /** Classic protocol: how long the coordinator waits for a heartbeat before the member is out. Default 45000. */
  readonly sessionTimeoutMs?: number
  /** Classic protocol: the time between two heartbeats, below `sessionTimeoutMs`. Default 3000, or a third of the session timeout where that is less. */
  readonly heartbeatIntervalMs?: number
  /** How long the application may do without `poll` before this member leaves; others wait as long for it in a rebalance. Default 300000. */
  readonly pollIntervalMsMax?: number
  /** Default `earliest`: nothing is left out. */
  readonly offsetReset?: GroupOffsetReset
  /** Commits by itself what was polled before the last `poll`: every `autoCommitIntervalMs`, before partitions go to others, and at `close`. Default true. */
  readonly autoCommit?: boolean
  /** The time between two commits with `autoCommit`. Default 5000. */
  readonly autoCommitIntervalMs?: number
  /** A thread beside heartbeats while the event loop is blocked, and leaves when that goes on for longer than `pollIntervalMsMax`. Default true; none in process and in simulations. */
  readonly heartbeatThread?: boolean
}

export interface GroupSettings {
  readonly groupId: string
  readonly instanceId: string | null
  readonly protocol: 'classic' | 'consumer'
  readonly assignors: readonly Assignor[]
  readonly serverAssignor: string | null
  readonly sessionTimeoutMs: number
  readonly heartbeatIntervalMs: number
  readonly pollIntervalMsMax: number
  readonly offsetReset: GroupOffsetReset
  readonly autoCommit: boolean
  readonly autoCommitIntervalMs: number
  readonly heartbeatThread: boolean
}

/** Throws MR_CLIENT_SETTING. */
export function groupSettings(given: GroupOptions): GroupSettings {
  const { groupId, groupInstanceId, groupProtocol = 'classic', assignors = ['cooperative-sticky'], serverAssignor, offsetReset = 'earliest', autoCommit = true } = given
  if (typeof groupId !== 'string' || groupId === '') throw settingError('groupId', 'it is a text, not empty')
  if (groupInstanceId !== undefined && (typeof groupInstanceId !== 'string' || groupInstanceId === '')) throw settingError('groupInstanceId', 'it is a text, not empty')
  if (!['classic', 'consumer'].includes(groupProtocol)) throw settingError('groupProtocol', `${String(groupProtocol)} is not one of classic, consumer`)
  if (!Array.isArray(assignors) || assignors.length === 0) throw settingError('assignors', `it is an array of ${[...assignorsByName.keys()].join(', ')}`)
  if (typeof autoCommit !== 'boolean') throw settingError('autoCommit', 'it is true or false')
  const sessionTimeoutMs = durationMs('sessionTimeoutMs', given.sessionTimeoutMs, 45_000)
  const heartbeatIntervalMs = durationMs('heartbeatIntervalMs', given.heartbeatIntervalMs, Math.min(3000, Math.max(1, Math.floor(sessionTimeoutMs / 3))))
  if (heartbeatIntervalMs >= sessionTimeoutMs) throw settingError('heartbeatIntervalMs', `${heartbeatIntervalMs} is not below sessionTimeoutMs, ${sessionTimeoutMs}; a third of it is usual`)
  return {
    groupId, instanceId: groupInstanceId ?? null, protocol: groupProtocol, assignors: assignors.map(assignorNamed), serverAssignor: serverAssignor ?? null,
    sessionTimeoutMs, heartbeatIntervalMs, pollIntervalMsMax: durationMs('pollIntervalMsMax', given.pollIntervalMsMax, 300_000),
    offsetReset: checkReset(offsetReset), autoCommit, autoCommitIntervalMs: durationMs('autoCommitIntervalMs', given.autoCommitIntervalMs, 5000), heartbeatThread: given.heartbeatThread ?? true,
  }
}

function assignorNamed(name: string): Assignor {
  const found = assignorsByName.get(name)
  if (found === undefined) throw settingError('assignors', `${String(name)} is not one of ${[...assignorsByName.keys()].join(', ')}`)
  return found
}

function checkReset(reset: GroupOffsetReset): GroupOffsetReset {
  if (typeof reset === 'object' && reset !== null) return { durationMs: integer('offsetReset.durationMs', reset.durationMs, 0, 0, Number.MAX_SAFE_INTEGER) }
  if (!['earliest', 'latest', 'error'].includes(reset)) throw settingError('offsetReset', `${String(reset)} is not one of earliest, latest, error, { durationMs }`)
  return reset
}
