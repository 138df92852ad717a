import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { type SuiteCheck } from './client-suite.ts'
import { TestMember } from './group-member.ts'

/** What the broker must allow for these checks: sessions that end while a test can wait for it. */
export const shortSessions: Readonly<Record<string, string>> = {
  'group.min.session.timeout.ms': '500', 'group.consumer.min.session.timeout.ms': '500', 'group.consumer.session.timeout.ms': '3000',
}
const sessionTimeoutMs = 3000

/** As a handler that computes: nothing else happens in this thread meanwhile. */
const block = (ms: number): void => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms) }

let groups = 0

/** No event tells that the thread has taken over. */
async function threadBeats({ consumer }: TestMember): Promise<void> {
  for (let looks = 0; !consumer.groupMembership().heartbeatThread; looks++) {
    assert.ok(looks < 1000, 'the thread beside has not taken over')
    await setTimeout(20)
  }
}

/**
 * The thread beside makes connections of its own, so that each way in (TLS, SASL) is proven for it. Only for a broker in another process: one in this
 * thread would be blocked too.
 */
export const blockedLoopChecks: readonly SuiteCheck[] = (['classic', 'consumer'] as const).map(groupProtocol => ({
  name: `${groupProtocol} group: a member whose event loop is blocked for longer than its session stays a member`,
  run: async ({ client, topic }) => {
    const name = await topic(2)
    const member = new TestMember(client, { groupId: `blocked-${process.pid}-${groups++}`, groupProtocol, sessionTimeoutMs }).run([name])
    await member.until(() => member.has.size === 2, 'it has both')
    await threadBeats(member)
    const { memberId, generation } = member.consumer.groupMembership()
    block(sessionTimeoutMs + 2000)
    await member.consumer.commit([{ topic: name, partition: 0, offset: 0 }])
    const after = member.consumer.groupMembership()
    assert.deepEqual([member.told, after.memberId, after.generation], [['assigned 0,1'], memberId, generation])
    await member.close()
  },
}))
