import { expect, it, vi } from 'vitest'
import { describeGroup, printReport } from '../../src/cli/group-report.ts'
import { createClient } from '../../src/client/index.ts'
import { createTestBroker } from '../../src/harness/index.ts'

it('a group whose committed offset lies above the end of the log is shown as beyond it, with what to do, and its lag is 0', async () => {
  await using broker = await createTestBroker()
  const client = createClient({ inProcess: { dispatcher: broker.dispatcher } })
  const admin = client.admin()
  await admin.createTopics([{ name: 'orders', partitions: 2 }])
  await admin.alterGroupOffsets('billing', [{ topic: 'orders', partition: 0, offset: 400 }, { topic: 'orders', partition: 1, offset: 0 }])
  const report = await describeGroup(admin, 'billing')
  await client.close()
  expect(report).toMatchObject({ lag: 0, partitions: [{ committed: 400, endOffset: 0, lag: 0, isBeyondEnd: true }, { committed: 0, endOffset: 0, lag: 0, isBeyondEnd: false }] })
  const shown: string[] = []
  const written = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation((text) => shown.push(String(text)) > 0))
  try {
    printReport(report)
  } finally {
    for (const each of written) each.mockRestore()
  }
  const text = shown.join('')
  expect(text).toMatch(/^orders +0 +400 +0 +beyond the end/m)
  expect(text).toMatch(/^orders +1 +0 +0 +0 /m)
  expect(text).toContain('orders-0: 400 is committed and the log ends at 0: records that the group has read are missing')
  expect(text).not.toContain('orders-1: 0 is committed')
})
