import { describe, expect, it } from 'vitest'
import { environmentLayer } from '../../../../src/kernel/config/environment-layer.ts'
import { brokerConfigTable } from '../../../../src/kernel/config/broker-config-table.ts'

describe('settings from the environment', () => {
  it('are the names in capitals, with _ for the dots, whatever else the environment holds', () => {
    expect(environmentLayer({ MILLRACE_NUM_PARTITIONS: '3', PATH: '/bin', MILLRACE_LOG_DIRS: '/a,/b', MILLRACE_BROKER_RACK: undefined }))
      .toEqual(new Map([['num.partitions', '3'], ['log.dirs', '/a,/b']]))
  })

  it('refuse a variable that names nothing, but for those with a meaning of their own', () => {
    expect(() => environmentLayer({ MILLRACE_NUM_PARTITION: '3' })).toThrow(/MILLRACE_NUM_PARTITION.*did you mean MILLRACE_NUM_PARTITIONS/)
    expect(environmentLayer({ MILLRACE_BOOTSTRAP: 'x' }, new Set(['MILLRACE_BOOTSTRAP']))).toEqual(new Map())
  })

  it('tell of a variable that is named after a flag what stands in its place', () => {
    expect(() => environmentLayer({ MILLRACE_DATA: '/a' })).toThrow(/MILLRACE_DATA.*--data is MILLRACE_LOG_DIRS here/)
    expect(() => environmentLayer({ MILLRACE_LISTEN: '0.0.0.0:9092' })).toThrow(/MILLRACE_LISTENERS here, as in PLAINTEXT:/)
    expect(() => environmentLayer({ MILLRACE_HTTP: 'off' })).toThrow(/MILLRACE_HTTP.*no variable/)
  })

  it('tell every setting apart', () => {
    expect(new Set(brokerConfigTable.map((row) => row.name.replaceAll('.', '_'))).size).toBe(brokerConfigTable.length)
  })
})
