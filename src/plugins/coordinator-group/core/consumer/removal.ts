import { prepare } from '../rebalance.ts'
import { GroupTurn } from '../group-turn.ts'
import { type ConsumerTurn } from './consumer-turn.ts'
import { classicFrom } from './migration.ts'
import { metadataHash } from './target.ts'

/** Members are out, and what they had is free. The others are given it when they are heard next; where all of them speak the classic protocol the group does, too. */
export function fence(turn: ConsumerTurn, memberIds: readonly string[], reason: string): void {
  const { group, topics } = turn
  const hadOthers = [...group.members.values()].some(({ about }) => about.classic === null)
  for (const memberId of memberIds) group.remove(memberId)
  group.metadataHash = metadataHash(group.subscriptions(topics).present, topics)
  turn.bump(reason)
  if (hadOthers) downgradeIfAllClassic(turn)
}

/** Online migration back: nobody is left who speaks the consumer protocol. The members join again, for a generation that their leader assigns. */
export function downgradeIfAllClassic(turn: ConsumerTurn): void {
  const { group, now, rules, topics } = turn
  if (!group.isAllClassic || !rules.consumer.canDowngrade || group.members.size > rules.groupSizeMax) return
  const classic = new GroupTurn(classicFrom(group, topics, now), now, rules)
  prepare(classic, 'the last member of the consumer protocol is gone')
  turn.classic = { group: classic.group, records: classic.records, reason: classic.reason }
  turn.answers.push(...classic.answers)
}
