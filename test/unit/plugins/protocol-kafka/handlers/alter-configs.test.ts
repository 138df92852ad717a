import { describe, expect, it } from 'vitest'
import { deferred } from '../../../../../src/base/deferred.ts'
import { MillraceError } from '../../../../../src/kernel/errors/index.ts'
import { alterConfigsApi, incrementalAlterConfigsApi } from '../../../../../src/wire/messages/index.ts'
import { TestBroker, turn } from '../fixture/test-broker.ts'

const change = (name: string, value: string | null, configOperation = 0) => ({ name, configOperation, value })
const topic = <C>(resourceName: string, ...configs: C[]) => ({ resourceType: 2, resourceName, configs })

async function brokerWith(...topics: string[]): Promise<TestBroker> {
  const broker = await TestBroker.start()
  for (const name of topics) broker.cluster.topic(name)
  return broker
}

describe('quirk 22: IncrementalAlterConfigs and AlterConfigs', () => {
  it('hand the controller single changes, or the whole of what is to be set', async () => {
    const broker = await brokerWith('t')
    const configs = [change('retention.ms', '1'), change('segment.ms', null, 1), change('cleanup.policy', 'compact', 2), change('cleanup.policy', 'delete', 3)]
    await broker.connect().call(incrementalAlterConfigsApi, 1, { resources: [topic('t', ...configs)], validateOnly: false })
    await broker.connect().call(alterConfigsApi, 2, { resources: [topic('t', { name: 'retention.ms', value: '1' })], validateOnly: false })
    expect(broker.cluster.alterations).toEqual([
      {
        topic: 't', replaces: false, changes: [
          { name: 'retention.ms', operation: 'set', value: '1' }, { name: 'segment.ms', operation: 'delete', value: null },
          { name: 'cleanup.policy', operation: 'append', value: 'compact' }, { name: 'cleanup.policy', operation: 'subtract', value: 'delete' },
        ],
      },
      { topic: 't', replaces: true, changes: [{ name: 'retention.ms', operation: 'set', value: '1' }] },
    ])
  })

  it('answer each resource, in their order, with what became of it and why', async () => {
    const broker = await brokerWith('a', 'b')
    const configs = [change('retention.ms', '1')]
    const resources = [
      topic('nobody', ...configs), topic('a', ...configs), topic('twice', ...configs), { resourceType: 77, resourceName: 'x', configs }, topic('b', change('retention.ms', '1', 4)),
      topic('twice', ...configs), { resourceType: 4, resourceName: '1', configs }, { resourceType: 4, resourceName: '', configs }, { resourceType: 4, resourceName: '7', configs },
      { resourceType: 32, resourceName: 'g', configs }, { resourceType: 8, resourceName: '1', configs },
    ]
    const answer = await broker.connect().call(incrementalAlterConfigsApi, 1, { resources, validateOnly: false })
    expect(answer.responses.map(({ resourceType, resourceName, errorCode }) => [resourceType, resourceName, errorCode])).toEqual([
      [2, 'nobody', 3], [2, 'a', 0], [2, 'twice', 42], [77, 'x', 42], [2, 'b', 42], [2, 'twice', 42], [4, '1', 42], [4, '', 42], [4, '7', 42], [32, 'g', 42], [8, '1', 42],
    ])
    const messages = answer.responses.map(({ errorMessage }) => errorMessage)
    expect(messages).toEqual([
      'topic nobody does not exist', null, expect.stringContaining('more than once'), expect.stringContaining('type 77'), expect.stringContaining('operation 4'),
      expect.stringContaining('more than once'), expect.stringContaining('restart it'), expect.stringContaining('restart it'), expect.stringContaining('this is broker 1'),
      expect.stringContaining('those of the broker count'), expect.stringContaining('type 8'),
    ])
    expect(broker.cluster.alterations.map((each) => each.topic)).toEqual(['nobody', 'a'])
    const replaced = await broker.connect().call(alterConfigsApi, 0, { resources: resources.map((resource) => ({ ...resource, configs: [{ name: 'retention.ms', value: '2' }] })), validateOnly: false })
    expect(replaced.responses.map(({ errorCode }) => errorCode)).toEqual([3, 0, 42, 42, 0, 42, 42, 42, 42, 42, 42])
  })

  it('with nothing that the controller could change it is not asked', async () => {
    const broker = await brokerWith()
    for (const resources of [[], [{ resourceType: 4, resourceName: '1', configs: [] }]]) {
      const answer = await broker.connect().call(incrementalAlterConfigsApi, 0, { resources, validateOnly: false })
      expect(answer.responses.map(({ errorCode }) => errorCode)).toEqual(resources.map(() => 42))
    }
    expect(broker.cluster.alterations).toEqual([])
  })

  it('validateOnly checks and changes nothing, and logs no warning; a change that has no effect does', async () => {
    const broker = await brokerWith('t')
    const request = { resources: [topic('t', change('flush.ms', '5'))] }
    expect((await broker.connect().call(incrementalAlterConfigsApi, 1, { ...request, validateOnly: true })).responses[0]!.errorCode).toBe(0)
    expect([broker.cluster.topics.get('t')!.overrides.size, broker.logger.atLeast('warn')]).toEqual([0, []])
    await broker.connect().call(incrementalAlterConfigsApi, 1, { ...request, validateOnly: false })
    expect([...broker.cluster.topics.get('t')!.overrides]).toEqual([['flush.ms', '5']])
    expect(broker.logger.atLeast('warn').map(({ message }) => message)).toEqual(['topic t: flush.ms has no effect here'])
  })

  it('a controller that is elsewhere is 41, one that does not come to an end 7, a fault of ours -1 without its words', async () => {
    const broker = await brokerWith('t')
    const resources = [topic('t', change('retention.ms', '1')), { resourceType: 77, resourceName: 'x', configs: [] }]
    const codes = async () => (await broker.connect().call(incrementalAlterConfigsApi, 1, { resources, validateOnly: false })).responses.map(({ errorCode, errorMessage }) => [errorCode, errorMessage])
    const alter = broker.cluster.alterConfigs.bind(broker.cluster)
    broker.cluster.alterConfigs = () => Promise.reject(new MillraceError('MR_CLUSTER_NOT_CONTROLLER', { nodeId: 1, leaderId: 2 }))
    expect((await codes()).map(([code]) => code)).toEqual([41, 42])
    broker.cluster.alterConfigs = () => Promise.reject(new Error('a secret'))
    expect((await codes())[0]).toEqual([-1, 'the broker failed; its log says why'])
    expect(broker.logger.atLeast('error').map(({ message }) => message)).toEqual(['settings could not be changed'])
    broker.cluster.alterConfigs = alter
    const gate = deferred()
    broker.cluster.alterationGate = gate.promise
    const slow = codes()
    await turn()
    broker.timers.advance(30_000)
    expect((await slow).map(([code]) => code)).toEqual([7, 42])
    gate.resolve()
    await turn()
  })
})
