import { type ClassicGroup, type Member, type MemberProtocol } from './classic-group.ts'

/**
 * Quirk 45: each member votes for its first protocol that all support, and the one with the most votes wins; of equals, the first member's earlier choice.
 * Undefined without members, or where there is none that all support.
 */
export function electProtocol(group: ClassicGroup): string | undefined {
  const members = [...group.members.values()]
  const counts = group.protocolCounts
  const candidates = members[0]?.protocols.map(({ name }) => name).filter((name) => counts.isCommon(name)) ?? []
  if (candidates.length === 0) return undefined
  const votes = new Map(candidates.map((name) => [name, 0]))
  for (const { protocols } of members) {
    const choice = protocols.find(({ name }) => votes.has(name))
    if (choice !== undefined) votes.set(choice.name, votes.get(choice.name)! + 1)
  }
  let best: string | undefined
  for (const name of candidates) if (best === undefined || votes.get(name)! > votes.get(best)!) best = name
  return best
}

/** Whether somebody with these protocols may join: the group is empty, or is of the same type and all members support one of them. */
export function acceptsProtocols(group: ClassicGroup, protocolType: string, protocols: readonly MemberProtocol[]): boolean {
  if (group.state === 'Empty') return protocolType !== '' && protocols.length > 0
  if (group.protocolType !== protocolType) return false
  // A group may have no members yet while its first one is waited for: then all of them support anything.
  const counts = group.protocolCounts
  return protocols.some(({ name }) => counts.isCommon(name))
}

/** Whether a member joins with what it joined with before. */
export function sameProtocols(member: Member, protocols: readonly MemberProtocol[]): boolean {
  return member.protocols.length === protocols.length && member.protocols.every(({ name, metadata }, index) => {
    const other = protocols[index]!
    return name === other.name && equalBytes(metadata, other.metadata)
  })
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false
  return true
}
