import { type ClassicGroup, type Member, type MemberProtocol } from './classic-group.ts'

/** The protocols that every member supports, in the order of the first member. */
function common(members: readonly Member[]): string[] {
  const [first, ...others] = members
  return first === undefined ? [] : first.protocols.map(({ name }) => name).filter((name) => others.every(({ protocols }) => protocols.some((each) => each.name === name)))
}

/**
 * Quirk 45: each member votes for its first protocol that all support, and the one with the most votes wins; of equals, the first member's earlier choice.
 * Undefined without members, or where there is none that all support.
 */
export function electProtocol(members: readonly Member[]): string | undefined {
  const candidates = common(members)
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
  // A group may have no members yet while its first one is waited for.
  const candidates = group.members.size === 0 ? undefined : new Set(common([...group.members.values()]))
  return protocols.some(({ name }) => candidates?.has(name) ?? true)
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
