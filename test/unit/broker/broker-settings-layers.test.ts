import { describe, expect, it } from 'vitest'
import { brokerSettings } from '../../../src/broker/broker-settings-layers.ts'

describe('layers of a broker\'s settings', () => {
  it('go preset, file, environment, command line, and each value tells where it comes from', () => {
    const settings = brokerSettings({
      preset: 'single-node',
      file: { broker: { 'num.partitions': 2, 'log.retention.hours': 5, 'broker.rack': 'a' } },
      environment: new Map([['num.partitions', '3'], ['log.retention.hours', '6']]),
      commandLine: { broker: { 'num.partitions': 4 } },
    })
    const entry = (name: string) => settings.entries().find((each) => each.name === name)
    expect(entry('num.partitions')).toMatchObject({ value: '4', source: 'command line' })
    expect(entry('log.retention.hours')).toMatchObject({ value: '6', source: 'environment' })
    expect(entry('broker.rack')).toMatchObject({ value: 'a', source: 'file' })
    expect(entry('node.id')).toMatchObject({ value: '1', source: 'preset' })
    expect(entry('num.io.threads')).toMatchObject({ source: 'default' })
  })
  it('short options become the settings they stand for', () => {
    const settings = brokerSettings({ preset: 'memory', file: { data: ['/a', '/b'], listen: '127.0.0.1:1', advertise: 'host:2', nodeId: 7 } })
    expect(settings.list('log.dirs')).toEqual(['/a', '/b'])
    expect(settings.text('listeners')).toBe('PLAINTEXT://127.0.0.1:1')
    expect(settings.text('advertised.listeners')).toBe('PLAINTEXT://host:2')
    expect(settings.nodeId).toBe(7)
  })
  it('a short option beside its setting is refused', () => {
    expect(() => brokerSettings({ preset: 'memory', file: { nodeId: 7, broker: { 'node.id': 8 } } })).toThrow(/node\.id is set beside it/)
  })
  it('the memory preset promises what memory keeps', () => {
    expect(brokerSettings({ preset: 'memory' }).topicSettings(new Map()).durability).toBe('os')
    expect(brokerSettings({ preset: 'single-node' }).topicSettings(new Map()).durability).toBe('fsync')
  })
})
