import { expect, test } from 'vitest'
import { RecordingLogger, RecordingMetrics } from '../../../../src/testkit/world/recording-telemetry.ts'

test('a recording logger keeps the lines of its children with the fields of both', () => {
  const logger = new RecordingLogger()
  logger.info('started', { port: 1 })
  logger.child({ topic: 'a' }).child({ partition: 0 }).error('failed', { reason: 'x' })
  expect(logger.lines).toEqual([
    { level: 'info', message: 'started', fields: { port: 1 } },
    { level: 'error', message: 'failed', fields: { topic: 'a', partition: 0, reason: 'x' } },
  ])
  expect(logger.atLeast('warn').map(line => line.message)).toEqual(['failed'])
})

test('recording metrics give one instrument for one name and labels, in whatever order', () => {
  const metrics = new RecordingMetrics()
  metrics.counter('millrace_a_total', 'help', { x: '1', y: '2' }).add(2)
  metrics.counter('millrace_a_total', 'help', { y: '2', x: '1' }).add(3)
  metrics.counter('millrace_a_total', 'help').add(10)
  metrics.histogram('millrace_b_ms', 'help', [1, 2]).observe(1.5)
  metrics.histogram('millrace_b_ms', 'help', [1, 2]).observe(7)
  let open = 1
  metrics.gauge('millrace_open', 'help', () => open)
  open = 4
  expect(metrics.count('millrace_a_total', { x: '1', y: '2' })).toBe(5)
  expect(metrics.count('millrace_a_total')).toBe(10)
  expect(metrics.count('millrace_never')).toBe(0)
  expect(metrics.observed('millrace_b_ms')).toEqual([1.5, 7])
  expect(metrics.value('millrace_open')).toBe(4)
  expect(metrics.snapshot()).toEqual(['millrace_a_total 10', 'millrace_a_total{x=1,y=2} 5', 'millrace_b_ms observed 2'])
})
