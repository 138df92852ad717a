import { expect, test } from 'vitest'
import { Prng } from '../../../src/base/prng.ts'
import { randomUuid } from '../../../src/base/uuid.ts'
import { decodeOffsetCommitValue, encodeOffsetCommitValue, type OffsetCommitValue } from '../../../src/wire/group-records.ts'
import { plainOffsetCommit, readPlainOffsetCommit } from '../../../src/wire/plain-offset-commit-value.ts'

const seed = 20_261_202

/** As the schema reads it; undefined where that throws. */
function decoded(data: Uint8Array): OffsetCommitValue | undefined {
  try {
    return decodeOffsetCommitValue(data)
  } catch {
    return undefined
  }
}

/** Version 3, as Kafka wrote it before it had ids of topics. */
function versionThree({ offset, leaderEpoch, metadata, commitTimestamp }: OffsetCommitValue): Uint8Array {
  const text = new TextEncoder().encode(metadata)
  const bytes = new Uint8Array(24 + text.length)
  const view = new DataView(bytes.buffer)
  view.setInt16(0, 3)
  view.setBigInt64(2, BigInt(offset))
  view.setInt32(10, leaderEpoch)
  view.setInt16(14, text.length)
  bytes.set(text, 16)
  view.setBigInt64(16 + text.length, BigInt(commitTimestamp))
  return bytes
}

function randomValue(random: Prng): Uint8Array {
  const pick = <T>(of: readonly T[]): T => of[random.uint32() % of.length]!
  const value: OffsetCommitValue = {
    offset: pick([0, 1, random.uint32(), Number.MAX_SAFE_INTEGER, -1]), leaderEpoch: pick([-1, 0, 5, 0x7fff_ffff]),
    metadata: pick(['', '', 'm', 'é'.repeat(random.uint32() % 70), 'x'.repeat(random.uint32() % 300)]), commitTimestamp: pick([0, 1_790_000_000_000, -1, random.uint32()]),
    expireTimestamp: pick([-1, -1, -1, 5]), topicId: pick(['AAAAAAAAAAAAAAAAAAAAAA', randomUuid(() => random.uint32())]),
  }
  return random.uint32() % 3 === 0 ? versionThree(value) : encodeOffsetCommitValue(value)
}

test('what is read is what the schema reads, of random values of all versions, and of such that are broken in any byte or cut anywhere', () => {
  const random = new Prng(seed)
  let [plain, others] = [0, 0]
  for (let count = 0; count < 30_000; count++) {
    let data = randomValue(random)
    if (count % 3 === 1) data[random.uint32() % data.length] = random.uint32()
    if (count % 3 === 2) data = data.slice(0, random.uint32() % (data.length + 1))
    if (!readPlainOffsetCommit(data)) {
      others++
      continue
    }
    plain++
    expect({ ...plainOffsetCommit }, `seed ${seed}, value ${count}: ${Buffer.from(data).toString('hex')}`).toEqual(decoded(data))
  }
  expect(plain).toBeGreaterThan(6000)
  expect(others).toBeGreaterThan(6000)
})

test('what brokers write of a commit is read here: with the id of the topic and without, with metadata and without', () => {
  for (const metadata of ['', 'm', 'x'.repeat(126)]) {
    for (const topicId of ['AAAAAAAAAAAAAAAAAAAAAA', 'mKYwH6x0QDuRL3bZ1OyCmA']) {
      const value: OffsetCommitValue = { offset: 7, leaderEpoch: 3, metadata, commitTimestamp: 1_790_000_000_000, expireTimestamp: -1, topicId }
      for (const data of [encodeOffsetCommitValue(value), versionThree(value)]) {
        expect(readPlainOffsetCommit(data)).toBe(true)
        expect({ ...plainOffsetCommit }).toEqual(decodeOffsetCommitValue(data))
      }
    }
  }
})
