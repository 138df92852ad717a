import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client, type GroupOptions } from '../../src/client/index.ts'
import { TestMember } from '../compat/own-client/group-member.ts'
import { ensureBuilt, mainJs } from './built.ts'
import { startBroker, type BrokerProcess } from './broker-process.ts'

let broker: BrokerProcess
let client: Client
beforeAll(async () => {
  ensureBuilt()
  const settings = ['group.min.session.timeout.ms=500', 'group.consumer.min.session.timeout.ms=500', 'group.consumer.session.timeout.ms=1500', 'group.consumer.min.heartbeat.interval.ms=200', 'group.consumer.heartbeat.interval.ms=200']
  broker = await startBroker(['--preset', 'memory', ...settings.flatMap((each) => ['--set', each])])
  client = createClient({ bootstrap: broker.bootstrap })
  await client.admin().createTopics([{ name: 'orders', partitions: 2 }])
}, 120_000)
afterAll(async () => {
  await client.close()
  await broker.end('SIGTERM')
})

/** As a handler that computes: nothing else happens in this thread meanwhile. */
const block = (ms: number): void => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms) }

describe.each(['classic', 'consumer'] as const)('a member whose event loop is blocked for longer than its session, %s protocol', (groupProtocol) => {
  const joined = async (groupId: string, options: Partial<GroupOptions>): Promise<TestMember> => {
    const member = new TestMember(client, { groupId: `${groupId}-${groupProtocol}`, groupProtocol, sessionTimeoutMs: 1500, heartbeatIntervalMs: 200, ...options }).run(['orders'])
    await member.until(() => member.has.size === 2, 'it has both')
    if (options.heartbeatThread !== false) await expect.poll(() => member.consumer.groupMembership().heartbeatThread, { timeout: 20_000 }).toBe(true)
    return member
  }

  it('stays a member', { timeout: 30_000 }, async () => {
    const member = await joined('stays', {})
    const before = member.consumer.groupMembership()
    block(3000)
    await member.consumer.commit([{ topic: 'orders', partition: 0, offset: 0 }])
    expect(member.told).toEqual(['assigned 0,1'])
    expect(member.consumer.groupMembership()).toMatchObject({ memberId: before.memberId, generation: before.generation })
    await member.close()
  })

  it('is out without the thread beside', { timeout: 30_000 }, async () => {
    const member = await joined('alone', { heartbeatThread: false })
    block(3000)
    await member.until(() => member.told.includes('lost 0,1'), 'it is out')
    await member.until(() => member.has.size === 2, 'it is in again')
    await member.close()
  })

  it('does not stay a member when its handler is stuck for longer than it may do without poll', { timeout: 30_000 }, async () => {
    const member = await joined('stuck', { pollIntervalMsMax: 1000, sessionTimeoutMs: 60_000 })
    const { memberId, generation } = member.consumer.groupMembership()
    await member.stop()
    block(3000)
    await expect.poll(() => member.consumer.groupMembership().generation, { timeout: 20_000 }).toBe(-1)
    const [group] = await client.admin().describeGroups([`stuck-${groupProtocol}`])
    expect([generation > 0, group!.members.filter((each) => each.memberId === memberId)]).toEqual([true, []])
    expect(member.told).toEqual(['assigned 0,1'])
    await member.close()
    expect(member.told).toEqual(['assigned 0,1', 'lost 0,1'])
  })
})

it('the built package has the thread too, and it keeps no process alive', { timeout: 60_000 }, () => {
  const built = pathToFileURL(join(mainJs, '../../client/index.js')).href
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `
    import { createConsumer } from '${built}'
    const consumer = createConsumer({ bootstrap: '${broker.bootstrap}', groupId: 'built', sessionTimeoutMs: 1500, heartbeatIntervalMs: 200 })
    const told = []
    consumer.subscribe(['orders'], { onAssigned: () => { told.push('assigned') }, onLost: () => { told.push('lost') } })
    await consumer.poll({ timeoutMs: 3000 })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)
    await consumer.poll({ timeoutMs: 1000 })
    console.log(told.join())
    await consumer.close()
  `], { encoding: 'utf8', timeout: 40_000 })
  expect([status, stdout, stderr]).toEqual([0, 'assigned\n', ''])
})
