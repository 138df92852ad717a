import { describe, expect, it } from 'vitest'
import { BrokerSettingsMap, type SettingsLayers } from '../../../../src/kernel/config/broker-settings-map.ts'

const settings = (layers: Record<string, Record<string, string>>): BrokerSettingsMap =>
  new BrokerSettingsMap(Object.fromEntries(Object.entries(layers).map(([name, values]) => [name, new Map(Object.entries(values))])) as SettingsLayers)

const topic = (broker: Record<string, string>, overrides: Record<string, string> = {}) =>
  settings({ file: broker }).topicSettings(new Map(Object.entries(overrides)))

describe('the settings of a broker', () => {
  it('default to the table', () => {
    const broker = new BrokerSettingsMap()
    expect(broker.nodeId).toBe(1)
    expect(broker.integer('num.partitions')).toBe(1)
    expect(broker.flag('auto.create.topics.enable')).toBe(true)
    expect(broker.list('listeners')).toEqual(['PLAINTEXT://127.0.0.1:9092'])
    expect(broker.text('broker.rack')).toBe('')
    expect(broker.list('log.dirs')).toEqual([])
    expect(broker.integer('log.retention.ms')).toBe(-1)
    expect(broker.warnings).toEqual([])
  })

  it('take the command line before the environment before the file before the preset', () => {
    const broker = settings({
      preset: { 'num.partitions': '2', 'durability': 'os', 'node.id': '2', 'broker.rack': 'a' },
      file: { 'num.partitions': '3', 'node.id': '3', 'broker.rack': 'b' },
      environment: { 'num.partitions': '4', 'node.id': '4' },
      commandLine: { 'num.partitions': '5' },
    })
    expect([broker.integer('num.partitions'), broker.nodeId, broker.text('broker.rack'), broker.text('durability')]).toEqual([5, 4, 'b', 'os'])
    const sources = new Map(broker.entries().map((entry) => [entry.name, entry.source]))
    expect(['num.partitions', 'node.id', 'broker.rack', 'durability'].map((name) => sources.get(name))).toEqual(['command line', 'environment', 'file', 'preset'])
  })

  it('give the largest long as Infinity', () => {
    expect(new BrokerSettingsMap().integer('log.message.timestamp.before.max.ms')).toBe(Infinity)
  })

  it('are checked when they are made', () => {
    expect(() => settings({ file: { 'num.partitions': '0' } })).toThrow(/num.partitions/)
    expect(() => settings({ file: { 'num.partition': '1' } })).toThrow(/did you mean num.partitions/)
    expect(() => settings({ file: { 'queued.max.request.bytes': '1000' } })).toThrow(/socket.request.max.bytes/)
  })

  it('that no topic could have are refused under the name that was typed', () => {
    expect(() => settings({ file: { 'log.flush.interval.ms': '-5' } })).toThrow(/log\.flush\.interval\.ms.*flush\.ms/)
  })

  it.each([
    ['max.connections', '0'], ['max.connections.per.ip', '0'], ['socket.request.max.bytes', '1'], ['socket.request.max.bytes', '1023'], ['message.max.bytes', '0'],
    ['message.max.bytes', '67'], ['queued.max.request.bytes', '0'], ['queued.max.request.bytes', '-2'], ['connections.max.idle.ms', '0'], ['log.retention.ms', '0'],
    ['log.retention.hours', '0'], ['log.roll.ms', '0'], ['log.index.size.max.bytes', '4'], ['log.flush.offset.checkpoint.interval.ms', '0'],
    ['replica.high.watermark.checkpoint.interval.ms', '0'], ['group.initial.rebalance.delay.ms', '-1'], ['group.max.session.timeout.ms', '0'],
    ['group.max.session.timeout.ms', '5999'], ['offset.metadata.max.bytes', '-1'], ['offsets.topic.compression.codec', '5'], ['offsets.topic.segment.bytes', '1048575'],
  ])('under which a broker serves nobody are refused: %s=%s', (name, value) => {
    expect(() => settings({ file: { [name]: value } })).toThrow(/^invalid value -?\d+ for /)
  })

  it('at the edge of what makes sense are accepted', () => {
    const edge = {
      'max.connections': '1', 'max.connections.per.ip': '0', 'max.connections.per.ip.overrides': '127.0.0.1:1', 'socket.request.max.bytes': '1024',
      'queued.max.request.bytes': '-1', 'message.max.bytes': '68', 'connections.max.idle.ms': '-1', 'log.retention.ms': '-1',
      'group.min.session.timeout.ms': '7', 'group.max.session.timeout.ms': '7',
    }
    expect(settings({ file: edge }).warnings).toEqual([])
  })

  it('of which one makes the other unreachable are warned of', () => {
    expect(settings({ file: { 'socket.request.max.bytes': '2000', 'message.max.bytes': '2000' } }).warnings)
      .toEqual(['message.max.bytes=2000 cannot be sent: socket.request.max.bytes=2000 is the largest request that is read'])
  })

  it.each([
    ['other voters', { 'controller.quorum.voters': '1@a:1,2@b:1' }], ['other voters', { 'controller.quorum.bootstrap.servers': 'a:1,b:1' }],
    ['a policy', { 'create.topic.policy.class.name': 'org.example.Policy' }], ['a policy', { 'alter.config.policy.class.name': 'org.example.Policy' }],
    ['quotas', { 'client.quota.callback.class': 'org.example.Quotas' }], ['an authorizer', { 'authorizer.class.name': 'org.example.Authorizer' }],
    ['certificates of clients', { 'ssl.client.auth': 'required' }], ['encryption between brokers', { 'security.inter.broker.protocol': 'SSL' }],
  ])('that promise %s are refused with what to do, not passed over with a warning: %j', (_what, file) => {
    expect(() => settings({ file })).toThrow(/is not supported here: .*; .*leave it out$/)
  })

  it('of one voter are accepted', () => {
    expect(settings({ file: { 'controller.quorum.voters': '1@a:1', 'controller.quorum.bootstrap.servers': 'a:1' } }).warnings).toHaveLength(2)
  })

  it('that promise syncs are refused beside durability=os, unless a preset says that', () => {
    for (const [name, value] of [['log.flush.interval.messages', '1'], ['log.flush.interval.messages', '500'], ['log.flush.interval.ms', '1000'], ['log.flush.scheduler.interval.ms', '5']] as const) {
      expect(() => settings({ file: { durability: 'os' }, environment: { [name]: value } })).toThrow(`${name}=${value} promises that records are synced`)
      expect(settings({ preset: { durability: 'os' }, file: { [name]: value } }).text('durability')).toBe('os')
      expect(settings({ file: { durability: 'fsync', [name]: value } }).text('durability')).toBe('fsync')
    }
    expect(settings({ file: { durability: 'os', 'log.flush.interval.messages': '9223372036854775807' } }).text('durability')).toBe('os')
  })

  it('that have no effect are named in the warnings', () => {
    expect(settings({ file: { 'num.io.threads': '9' } }).warnings).toEqual(['num.io.threads has no effect here: the data path runs on one event loop, without pools of threads'])
  })

  it('that are secret are listed without their value', () => {
    const broker = settings({ file: { 'ssl.key.password': 'hunter2' } })
    expect(broker.text('ssl.key.password')).toBe('hunter2')
    expect(JSON.stringify(broker.entries())).not.toContain('hunter2')
    expect(broker.entries()).toContainEqual({ name: 'ssl.key.password', value: '[hidden]', source: 'file' })
  })

  it('assert when a name is asked for that the table lacks, or as another type', () => {
    expect(() => new BrokerSettingsMap().integer('nonsense')).toThrow(/invariant/)
    expect(() => new BrokerSettingsMap().integer('broker.rack')).toThrow(/invariant/)
  })
})

describe('the settings of a topic', () => {
  it('default to Kafka\'s, and to fsync', () => {
    expect(topic({})).toEqual({
      durability: 'fsync', compact: false, delete: true, deleteRetentionMs: 86_400_000, minCompactionLagMs: 0, maxCompactionLagMs: Infinity, minCleanableDirtyRatio: 0.5,
      retentionMs: 604_800_000, retentionBytes: -1, segmentBytes: 1_073_741_824, segmentMs: 604_800_000,
      segmentJitterMs: 0, segmentIndexBytes: 10_485_760, indexIntervalBytes: 4096, fileDeleteDelayMs: 60_000, maxMessageBytes: 1_048_588,
      compressionType: 'producer', compressionLevel: undefined, timestampType: 'CreateTime', timestampBeforeMaxMs: Infinity, timestampAfterMaxMs: 3_600_000,
      minInsyncReplicas: 1, batchCheck: 'records',
    })
  })

  it('take the nearest of the broker\'s settings that is set: milliseconds before minutes before hours', () => {
    expect(topic({ 'log.retention.hours': '1' }).retentionMs).toBe(3_600_000)
    expect(topic({ 'log.retention.hours': '1', 'log.retention.minutes': '2' }).retentionMs).toBe(120_000)
    expect(topic({ 'log.retention.hours': '1', 'log.retention.minutes': '2', 'log.retention.ms': '3' }).retentionMs).toBe(3)
    expect(topic({ 'log.retention.hours': '1' }, { 'retention.ms': '4' }).retentionMs).toBe(4)
    expect(topic({ 'log.roll.hours': '2', 'log.roll.jitter.hours': '1' })).toMatchObject({ segmentMs: 7_200_000, segmentJitterMs: 3_600_000 })
  })

  it('keep for ever when retention is negative in any unit', () => {
    expect(topic({ 'log.retention.hours': '-1' }).retentionMs).toBe(-1)
    expect(topic({}, { 'retention.bytes': '-7' }).retentionBytes).toBe(-1)
    expect(topic({}, { 'retention.ms': '9223372036854775807' }).retentionMs).toBe(-1)
  })

  it('are fsync where flush.messages=1 asks for it, the topic\'s word going before the broker\'s', () => {
    expect(topic({ durability: 'os' }).durability).toBe('os')
    expect(topic({ durability: 'os' }, { 'flush.messages': '1' }).durability).toBe('fsync')
    expect(topic({ 'log.flush.interval.messages': '1' }, { durability: 'os' }).durability).toBe('os')
  })

  it('have a level only for the codec that is used, and only when it is not the codec\'s default', () => {
    expect(topic({}, { 'compression.type': 'zstd', 'compression.zstd.level': '7', 'compression.gzip.level': '1' }).compressionLevel).toBe(7)
    expect(topic({}, { 'compression.type': 'gzip' }).compressionLevel).toBeUndefined()
    expect(topic({}, { 'compression.type': 'producer', 'compression.zstd.level': '7' }).compressionLevel).toBeUndefined()
  })

  it('take internal.segment.bytes before segment.bytes', () => {
    expect(topic({}, { 'internal.segment.bytes': '2048', 'segment.bytes': '1048576' }).segmentBytes).toBe(2048)
  })
})
