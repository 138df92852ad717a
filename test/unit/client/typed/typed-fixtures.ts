import { type ConsumerRecord } from '../../../../src/client/index.ts'
import { type SerdePlace } from '../../../../src/client/typed/serde.ts'

export const valuePlace: SerdePlace = { topic: 'orders', part: 'value' }
export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
export const ofUtf8 = (bytes: Uint8Array | null): string | null => bytes === null ? null : new TextDecoder().decode(bytes)

/** What a function throws. */
export function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** A record as it is read, of text or bytes. */
export function recordOf(key: Uint8Array | null, value: Uint8Array | null, offset = 7): ConsumerRecord {
  return { topic: 'orders', partition: 2, offset, key, value, headers: [], timestamp: 1000 } as unknown as ConsumerRecord
}
