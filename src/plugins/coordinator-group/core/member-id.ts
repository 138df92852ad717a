const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** An id for a member: what it calls itself, and 16 random bytes as a UUID is written, which nobody else gets. */
export function memberId(name: string, random: Uint8Array): string {
  const digits = Array.from(random, (byte) => hex[byte]!).join('')
  return `${name}-${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`
}
