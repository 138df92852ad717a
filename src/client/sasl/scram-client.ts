import { type HashAlgorithm, type Hashing } from '../../kernel/ports/hashing.ts'

/** RFC 7677 forbids fewer, and Kafka too. */
const iterationsMin = 4096
/** Above this a broker would only keep the client busy. */
const iterationsMax = 10_000_000

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Why an exchange was given up. Never holds the password or anything made from it. */
export class ScramRefused extends Error {}

/**
 * The client's side of SCRAM (RFC 5802, and RFC 7677 for SHA-256), without channel binding: three messages out, of which the last is empty, and two in.
 * The server has to prove that it knows the password, too. As in Kafka, passwords are not put through SASLprep.
 */
export class ScramClient {
  private readonly hashing: Hashing
  private readonly algorithm: HashAlgorithm
  private readonly password: string
  private readonly nonce: string
  private readonly firstBare: string
  private serverSignature: Uint8Array | undefined

  /** `nonce` is fresh for each exchange, printable ASCII without a comma. */
  constructor(hashing: Hashing, algorithm: HashAlgorithm, username: string, password: string, nonce: string) {
    this.hashing = hashing
    this.algorithm = algorithm
    this.password = password
    this.nonce = nonce
    this.firstBare = `n=${username.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  }

  firstMessage(): Uint8Array {
    return encoder.encode(`n,,${this.firstBare}`)
  }

  /** Answers the server's first message. Throws ScramRefused. */
  async finalMessage(serverFirst: Uint8Array): Promise<Uint8Array> {
    const text = decode(serverFirst)
    const parts = attributes(text)
    const nonce = parts.get('r') ?? ''
    const iterations = Number(parts.get('i'))
    if (!nonce.startsWith(this.nonce) || nonce.length === this.nonce.length) throw new ScramRefused('the broker did not answer our nonce')
    if (!Number.isInteger(iterations) || iterations < iterationsMin || iterations > iterationsMax) {
      throw new ScramRefused(`the broker asks for ${parts.get('i') ?? 'no'} iterations; ${iterationsMin} to ${iterationsMax} are accepted`)
    }
    const salted = await this.hashing.pbkdf2(this.algorithm, encoder.encode(this.password), fromBase64(parts.get('s') ?? ''), iterations)
    const withoutProof = `c=biws,r=${nonce}`
    const authMessage = encoder.encode(`${this.firstBare},${text},${withoutProof}`)
    const clientKey = this.hashing.hmac(this.algorithm, salted, encoder.encode('Client Key'))
    const signature = this.hashing.hmac(this.algorithm, this.hashing.digest(this.algorithm, clientKey), authMessage)
    const proof = clientKey.map((byte, index) => byte ^ signature[index]!)
    const serverKey = this.hashing.hmac(this.algorithm, salted, encoder.encode('Server Key'))
    this.serverSignature = this.hashing.hmac(this.algorithm, serverKey, authMessage)
    return encoder.encode(`${withoutProof},p=${toBase64(proof)}`)
  }

  /** Checks the server's last message: whether it knows the password. Throws ScramRefused. */
  finish(serverFinal: Uint8Array): void {
    const parts = attributes(decode(serverFinal))
    const problem = parts.get('e')
    if (problem !== undefined) throw new ScramRefused(problem)
    if (this.serverSignature === undefined || !this.hashing.equal(fromBase64(parts.get('v') ?? ''), this.serverSignature)) {
      throw new ScramRefused('the broker does not know the password: its signature is wrong')
    }
  }
}

function attributes(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const part of text.split(',')) {
    if (part[1] === '=') found.set(part[0]!, part.slice(2))
  }
  return found
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new ScramRefused('the message of the broker is no UTF-8')
  }
}

/** Printable, and as long as 4/3 of the bytes. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    throw new ScramRefused('the message of the broker holds no base64 where it should')
  }
}
