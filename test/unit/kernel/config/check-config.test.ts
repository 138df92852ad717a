import { describe, expect, it } from 'vitest'
import { checkBrokerConfigs, checkTopicConfigs } from '../../../../src/kernel/config/check-config.ts'
import { noLimits, storeLimits } from '../../../../src/kernel/config/store-limits.ts'
import { isMillraceError, type MillraceError } from '../../../../src/kernel/errors/index.ts'

const topic = (configs: Record<string, string | null>) => checkTopicConfigs(new Map(Object.entries(configs)), noLimits)

function refusal(configs: Record<string, string | null>, check = checkTopicConfigs): MillraceError {
  try {
    check(new Map(Object.entries(configs)), noLimits)
  } catch (error) {
    if (isMillraceError(error)) return error
    throw error
  }
  throw new Error(`${JSON.stringify(configs)} was accepted`)
}

describe('topic settings', () => {
  it('come out in Kafka\'s spelling', () => {
    const { values, warnings } = topic({ 'retention.ms': ' +05 ', 'cleanup.policy': 'compact , delete', 'remote.storage.enable': 'FALSE', 'segment.bytes': '1048576' })
    expect(Object.fromEntries(values)).toEqual({ 'retention.ms': '5', 'cleanup.policy': 'compact,delete', 'remote.storage.enable': 'false', 'segment.bytes': '1048576' })
    expect(warnings).toHaveLength(0)
  })

  it('that are unknown are refused with the name that was meant', () => {
    const error = refusal({ 'retention.mss': '1' })
    expect(error.code).toBe('MR_CONFIG_UNKNOWN')
    expect(error.row.kafka).toBe(40)
    expect(error.message).toContain('did you mean retention.ms?')
  })

  it.each([
    ['retention.ms', '-2', 'a whole number of -1 or more'],
    ['retention.ms', '1.5', 'a whole number'],
    ['retention.ms', '', 'a whole number'],
    ['retention.ms', '9223372036854775808', 'a whole number of -1 or more, and at most 9223372036854775807'],
    ['segment.bytes', '1048575', 'a whole number of 1048576 or more'],
    ['segment.bytes', '2147483648', 'a whole number of 1048576 or more, and at most 2147483647'],
    ['compression.gzip.level', '0', 'from 1 to 9 or -1'],
    ['compression.type', 'GZIP', 'one of uncompressed, zstd, lz4, snappy, gzip, producer'],
    ['cleanup.policy', 'drop', 'any of compact, delete'],
    ['cleanup.policy', 'compact,compact', 'twice'],
    ['cleanup.policy', 'compact,', 'empty'],
    ['min.cleanable.dirty.ratio', '1.1', 'a number from 0 to 1'],
    ['min.cleanable.dirty.ratio', 'NaN', 'a number'],
    ['preallocate', 'yes', 'true or false'],
    ['leader.replication.throttled.replicas', '1', 'PARTITION:BROKER'],
  ])('%s=%j is refused with what is allowed', (name, value, allowed) => {
    const error = refusal({ [name]: value })
    expect(error.code).toBe('MR_CONFIG_INVALID')
    expect(error.message).toContain(allowed)
    expect(error.message).toContain(name)
  })

  it.each([
    ['retention.ms', '9223372036854775807'], ['compression.gzip.level', '-1'], ['cleanup.policy', ''], ['leader.replication.throttled.replicas', '*'],
    ['leader.replication.throttled.replicas', '0:1,1:2'], ['min.cleanable.dirty.ratio', '.5'], ['durability', 'os'], ['batch.check', 'header'],
  ])('%s=%j is accepted', (name, value) => {
    expect(topic({ [name]: value }).values.get(name)).toBe(value)
  })

  it('without a value are refused', () => {
    expect(refusal({ 'retention.ms': null }).code).toBe('MR_CONFIG_INVALID')
  })

  it('that promise what does not exist here are refused, their defaults are not', () => {
    const error = refusal({ 'remote.storage.enable': 'true' })
    expect(error.code).toBe('MR_CONFIG_UNSUPPORTED')
    expect(error.message).toContain('no tiered storage')
    expect(topic({ 'remote.storage.enable': 'false' }).warnings).toEqual([])
  })

  it('that change nothing are accepted with a warning that says why', () => {
    expect(topic({ preallocate: 'true' }).warnings).toEqual(['preallocate has no effect here: segments end with their last batch'])
    expect(topic({ preallocate: 'false' }).warnings).toEqual([])
  })

  it('with a caveat warn for the values that have it', () => {
    expect(topic({ 'flush.messages': '1' }).warnings).toEqual([])
    expect(topic({ 'flush.messages': '2' }).warnings[0]).toContain('durability')
  })

  it('that promise what the store cannot keep are accepted with a warning that names it, and others are not', () => {
    const over = (configs: Record<string, string>, capabilities?: Record<string, boolean>) =>
      checkTopicConfigs(new Map(Object.entries(configs)), storeLimits({ name: 'acme-store', ...capabilities === undefined ? {} : { capabilities } })).warnings
    const reason = 'has no effect here: acme-store keeps nothing that survives a power cut'
    expect(over({ durability: 'fsync', 'flush.messages': '1' }, { durable: false })).toEqual([`durability=fsync ${reason}`, `flush.messages=1 ${reason}`])
    expect(over({ 'flush.messages': '7' }, { durable: false })).toEqual([`flush.messages=7 ${reason}`])
    expect(over({ 'cleanup.policy': 'compact' }, { durable: true })).toEqual(['cleanup.policy=compact has no effect here: acme-store does not compact: it keeps every record'])
    expect(over({ 'cleanup.policy': 'compact' }, { durable: true, compaction: true })).toEqual([])
    expect(over({ durability: 'os', 'flush.messages': '9223372036854775807', 'retention.ms': '5' }, { durable: false })).toEqual([])
    // What a store does not declare it does not have.
    expect(over({ durability: 'fsync' })).toEqual([`durability=fsync ${reason}`])
    expect(over({ durability: 'fsync' }, { compaction: true })).toEqual([`durability=fsync ${reason}`])
    expect(over({ durability: 'fsync', 'flush.messages': '1' }, { durable: true })).toEqual([])
  })

  it('that contradict one another are refused', () => {
    expect(refusal({ 'min.compaction.lag.ms': '10', 'max.compaction.lag.ms': '9' }).message).toContain('max.compaction.lag.ms=9')
    for (const [name, value] of [['flush.messages', '1'], ['flush.messages', '7'], ['flush.ms', '1000']] as const) {
      expect(refusal({ durability: 'os', [name]: value }).message).toContain(`${name}=${value} promises that records are synced, and with it nothing is; set durability=fsync`)
    }
    expect(topic({ durability: 'fsync', 'flush.messages': '1' }).values.size).toBe(2)
  })
})

describe('broker settings', () => {
  it('that are unknown are refused with the name that was meant', () => {
    expect(refusal({ 'num.partition': '3' }, checkBrokerConfigs).message).toContain('did you mean num.partitions?')
  })

  it('of the tier are refused when they would turn it on', () => {
    expect(refusal({ 'remote.log.storage.system.enable': 'true' }, checkBrokerConfigs).code).toBe('MR_CONFIG_UNSUPPORTED')
  })
})

describe('a name that is like no setting', () => {
  it('of brokers or of topics is refused with where to look', () => {
    for (const name of ['zzzzzzzzzzzz', 'super.users', 'allow.everyone.if.no.acl.found', 'listener.name.external.ssl.keystore.location']) {
      const error = refusal({ [name]: '1' }, checkBrokerConfigs)
      expect([error.code, error.message]).toEqual(['MR_CONFIG_UNKNOWN', expect.stringMatching(/; (millrace config print --all lists|there is no authorizer.*leave it out|one listener cannot have settings of its own here, set it for all)/)])
    }
    expect(refusal({ zzzzzzzzzzzz: '1' }).message).toBe('unknown setting zzzzzzzzzzzz; docs/config.md lists those of topics')
  })
})
