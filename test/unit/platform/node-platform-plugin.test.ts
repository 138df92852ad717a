import { expect, test } from 'vitest'
import { createHost } from '../../../src/kernel/plugin/plugin-host.ts'
import { nodePlatform } from '../../../src/platform/node-platform-plugin.ts'

test('a host of the platform alone makes every port that it provides', async () => {
  const host = createHost({ plugins: [nodePlatform], settings: { platform: { receive: 'chunks' } } })
  await host.start()
  for (const port of nodePlatform.provides!) expect(host.get(port), String(port.description)).toBeTypeOf('object')
  expect(await host.stop()).toEqual([])
})

test('an unknown setting is refused by name', () => {
  expect(() => createHost({ plugins: [nodePlatform], settings: { platform: { recieve: 'shared' } } })).toThrow(/recieve/)
})
