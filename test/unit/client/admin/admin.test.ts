import { describe, expect, it } from 'vitest'
import { kafkaErrors, type CreateTopicsRequest, type DeleteRecordsRequest, type DeleteTopicsRequest, type DescribeConfigsRequest, type IncrementalAlterConfigsRequest } from '../../../../src/wire/index.ts'
import { type Admin } from '../../../../src/client/admin/admin.ts'
import { testWorld } from '../world/client-world.ts'

describe('an admin', () => {
  it('creates topics at the controller, with the defaults of the broker where nothing is said', async () => {
    const world = await testWorld({ nodes: 3 })
    world.cluster.controllerId = 2
    world.cluster.script = call => call.api.key !== 19 ? undefined : { respond: { topics: (call.request as CreateTopicsRequest).topics.map(({ name }) => ({
      name, topicId: 'abcdefghijklmnopqrstuA', errorCode: 0, errorMessage: null, numPartitions: 4, replicationFactor: 3, configs: [],
    })) } }
    const created = await world.complete(world.client().admin().createTopics([
      { name: 'a' }, { name: 'b', partitions: 7, replicationFactor: 2, configs: { 'cleanup.policy': 'compact' } }, { name: 'c', assignments: [[1, 2], [2, 3]] },
    ], { validateOnly: true }))
    expect(created[0]).toEqual({ name: 'a', topicId: 'abcdefghijklmnopqrstuA', partitions: 4, replicationFactor: 3 })
    const [call] = world.cluster.callsOf(19)
    expect(call!.node.id).toBe(2)
    expect(call!.request).toMatchObject({ validateOnly: true, topics: [
      { name: 'a', numPartitions: -1, replicationFactor: -1, assignments: [], configs: [] },
      { name: 'b', numPartitions: 7, replicationFactor: 2, configs: [{ name: 'cleanup.policy', value: 'compact' }] },
      { name: 'c', numPartitions: -1, replicationFactor: -1, assignments: [{ partitionIndex: 0, brokerIds: [1, 2] }, { partitionIndex: 1, brokerIds: [2, 3] }] },
    ] })
  })

  it('looks for the controller again, and asks for what is not created yet', async () => {
    const world = await testWorld({ nodes: 2 })
    let asked = 0
    world.cluster.script = call => {
      if (call.api.key !== 19) return undefined
      const first = asked++ === 0
      world.cluster.controllerId = 2
      return { respond: { topics: (call.request as CreateTopicsRequest).topics.map(({ name }) => ({
        name, errorCode: first && name === 'b' ? kafkaErrors.NOT_CONTROLLER : 0, errorMessage: null,
      })) } }
    }
    const created = await world.complete(world.client().admin().createTopics([{ name: 'a' }, { name: 'b' }]))
    expect(created.map(topic => topic.name)).toEqual(['a', 'b'])
    const [first, second] = world.cluster.callsOf(19)
    expect([first!.node.id, second!.node.id]).toEqual([1, 2])
    expect((second!.request as CreateTopicsRequest).topics.map(topic => topic.name)).toEqual(['b'])
  })

  it.each([
    [kafkaErrors.TOPIC_ALREADY_EXISTS, 'MR_TOPIC_EXISTS'], [kafkaErrors.INVALID_TOPIC_EXCEPTION, 'MR_TOPIC_NAME_INVALID'],
    [kafkaErrors.INVALID_REPLICATION_FACTOR, 'MR_TOPIC_REPLICATION_INVALID'], [kafkaErrors.INVALID_PARTITIONS, 'MR_TOPIC_PARTITIONS_INVALID'],
    [kafkaErrors.TOPIC_AUTHORIZATION_FAILED, 'MR_CLIENT_NOT_AUTHORIZED'], [kafkaErrors.POLICY_VIOLATION, 'MR_CLIENT_BROKER_REFUSED'],
  ])('says with our own code what Kafka code %i says', async (errorCode, code) => {
    const world = await testWorld()
    world.cluster.script = call => call.api.key !== 19 ? undefined : { respond: { topics: [{ name: 'a', errorCode, errorMessage: 'because' }] } }
    const error = await world.rejection(world.client().admin().createTopics([{ name: 'a' }]))
    expect(error).toMatchObject({ code, details: { topic: 'a', kafkaCode: errorCode } })
    expect(world.cluster.callsOf(19)).toHaveLength(1)
  })

  it('gives up when its time is over, with what kept it', async () => {
    const world = await testWorld()
    world.cluster.script = call => call.api.key !== 19 ? undefined : { respond: { topics: [{ name: 'a', errorCode: kafkaErrors.NOT_CONTROLLER, errorMessage: null }] } }
    const error = await world.rejection(world.client().admin().createTopics([{ name: 'a' }], { timeoutMs: 3000 }), 4500)
    expect(error).toMatchObject({ code: 'MR_CLIENT_BROKER_BUSY', details: { error: 'NOT_CONTROLLER' } })
  })

  it('that is refused again and again tells the refusal, and not that a last try without time was not answered', async () => {
    const world = await testWorld({ latencyMs: 20 })
    world.cluster.script = call => call.api.key !== 19 ? undefined : { respond: { topics: [{ name: 'a', errorCode: kafkaErrors.KAFKA_STORAGE_ERROR, errorMessage: 'no space' }] } }
    for (let timeoutMs = 500; timeoutMs < 560; timeoutMs++) {
      const error = await world.rejection(world.client().admin().createTopics([{ name: 'a' }], { timeoutMs }), 1000)
      expect(error).toMatchObject({ code: 'MR_CLIENT_BROKER_BUSY', details: { error: 'KAFKA_STORAGE_ERROR' } })
    }
    expect(world.cluster.callsOf(19).length).toBeGreaterThan(120)
  })

  it('lists and describes topics, without creating any', async () => {
    const world = await testWorld()
    world.cluster.createsTopics = true
    world.cluster.addTopic('b', [1, 1])
    world.cluster.addTopic('a', [1])
    const admin = world.client().admin()
    expect(await world.complete(admin.listTopics())).toMatchObject([{ name: 'a', partitions: 1 }, { name: 'b', partitions: 2 }])
    expect(await world.complete(admin.describeTopics(['b']))).toMatchObject([{ name: 'b', partitions: [
      { partition: 0, leaderId: 1, leaderEpoch: 0, replicas: [1], inSyncReplicas: [1] }, { partition: 1 },
    ] }])
    expect(await world.rejection(admin.describeTopics(['a', 'missing']), 1000)).toMatchObject({ code: 'MR_TOPIC_UNKNOWN', details: { topic: 'missing' } })
    expect(world.cluster.topics.size).toBe(2)
  })

  it.each([[6, 'topics'], [3, 'topicNames']] as const)('deletes topics by what version %i has for it', async (max, field) => {
    const world = await testWorld()
    world.cluster.versions.set(20, { min: 1, max })
    world.cluster.script = call => call.api.key !== 20 ? undefined : { respond: { responses: ['a', 'b'].map(name => ({ name, errorCode: name === 'b' ? 3 : 0, errorMessage: null })) } }
    expect(await world.rejection(world.client().admin().deleteTopics(['a', 'b']), 1000)).toMatchObject({ code: 'MR_TOPIC_UNKNOWN', details: { topic: 'b' } })
    expect((world.cluster.callsOf(20)[0]!.request as DeleteTopicsRequest)[field]).toHaveLength(2)
  })

  it('asks each broker for its own settings, and any one for those of topics', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.script = call => call.api.key !== 32 ? undefined : { respond: { results: (call.request as DescribeConfigsRequest).resources.map(resource => ({
      ...resource, errorCode: 0, errorMessage: null, configs: [{ name: 'k', value: 'v', readOnly: false, isSensitive: false, configSource: resource.resourceType === 2 ? 1 : 4 }],
    })) } }
    const found = await world.complete(world.client().admin().describeConfigs([{ type: 'broker', name: '2' }, { type: 'topic', name: 't' }]))
    expect(found).toEqual([
      { type: 'broker', name: '2', entries: [{ name: 'k', value: 'v', isReadOnly: false, isSensitive: false, source: 'file' }] },
      { type: 'topic', name: 't', entries: [{ name: 'k', value: 'v', isReadOnly: false, isSensitive: false, source: 'topic' }] },
    ])
    expect(world.cluster.callsOf(32).find(call => (call.request as DescribeConfigsRequest).resources[0]!.resourceType === 4)!.node.id).toBe(2)
  })

  it('asks for the documentation of settings only when told to, and only brokers that have it', async () => {
    const described = async (max: number, includeDocumentation: boolean) => {
      const world = await testWorld()
      world.cluster.versions.set(32, { min: 1, max })
      world.cluster.script = call => call.api.key !== 32 ? undefined : { respond: { results: [{
        errorCode: 0, errorMessage: null, resourceType: 2, resourceName: 't',
        configs: [{ name: 'k', value: 'v', readOnly: false, isSensitive: false, configSource: 1, documentation: (call.request as DescribeConfigsRequest).includeDocumentation ? 'What it is.' : null }],
      }] } }
      return (await world.complete(world.client().admin().describeConfigs([{ type: 'topic', name: 't' }], { includeDocumentation })))[0]!.entries[0]!.documentation
    }
    expect([await described(4, true), await described(4, false), await described(3, true), await described(2, true)]).toEqual(['What it is.', undefined, 'What it is.', undefined])
  })

  it('changes single settings', async () => {
    const world = await testWorld()
    world.cluster.script = call => call.api.key !== 44 ? undefined : { respond: { responses: [{ errorCode: 0, errorMessage: null, resourceType: 2, resourceName: 't' }] } }
    await world.complete(world.client().admin().incrementalAlterConfigs([{ type: 'topic', name: 't', changes: [
      { name: 'retention.ms', operation: 'set', value: '5' }, { name: 'cleanup.policy', operation: 'delete' },
    ] }]))
    expect((world.cluster.callsOf(44)[0]!.request as IncrementalAlterConfigsRequest).resources).toEqual([{ resourceType: 2, resourceName: 't', configs: [
      { name: 'retention.ms', configOperation: 0, value: '5' }, { name: 'cleanup.policy', configOperation: 1, value: null },
    ] }])
  })

  it('deletes records at the leader', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.addTopic('t', [2])
    world.cluster.script = call => call.api.key !== 21 ? undefined : { respond: { topics: [{ name: 't', partitions: [{ partitionIndex: 0, lowWatermark: 7, errorCode: 0 }] }] } }
    expect(await world.complete(world.client().admin().deleteRecords([{ topic: 't', partition: 0, beforeOffset: 7 }]))).toEqual([{ topic: 't', partition: 0, logStartOffset: 7 }])
    const [call] = world.cluster.callsOf(21)
    expect(call!.node.id).toBe(2)
    expect((call!.request as DeleteRecordsRequest).topics[0]!.partitions[0]!.offset).toBe(7)
  })

  it('says of an offset beyond the end what may be given, and nothing of what only a consumer can do', async () => {
    const world = await testWorld()
    world.cluster.addTopic('t', [1])
    world.cluster.script = call => call.api.key !== 21 ? undefined : { respond: { topics: [{ name: 't', partitions: [{ partitionIndex: 0, lowWatermark: -1, errorCode: 1 }] }] } }
    await expect(world.complete(world.client().admin().deleteRecords([{ topic: 't', partition: 0, beforeOffset: 99 }]))).rejects.toMatchObject({
      code: 'MR_CLIENT_OFFSET_OUT_OF_RANGE', details: { topic: 't', partition: 0, offset: 99 },
      message: 't-0 has no offset 99 yet, so that what is below it cannot be deleted; give beforeOffset up to its end, which admin.listOffsets tells, or -1 for all that may be read',
    })
  })

  it('describes the cluster by its own API, or by metadata where there is none', async () => {
    const world = await testWorld({ nodes: 2 })
    world.cluster.script = call => call.api.key !== 60 ? undefined : { respond: { errorCode: 0, clusterId: 'own', controllerId: 2, brokers: [{ brokerId: 2, host: 'b2', port: 9092, rack: 'r' }] } }
    expect(await world.complete(world.client().admin().describeCluster())).toEqual({ clusterId: 'own', controllerId: 2, brokers: [{ id: 2, host: 'b2', port: 9092, rack: 'r' }] })
    world.cluster.versions.delete(60)
    expect(await world.complete(world.client().admin().describeCluster())).toMatchObject({ clusterId: 'fake', controllerId: 1, brokers: [{ id: 1 }, { id: 2 }] })
  })

  it('says that a broker does not serve what is asked for', async () => {
    const world = await testWorld()
    world.cluster.versions.delete(37)
    expect(await world.rejection(world.client().admin().createPartitions([{ name: 't', partitions: 3 }]))).toMatchObject({ code: 'MR_CLIENT_UNSUPPORTED' })
  })

  it.each([0, -1, 1.5, 2 ** 31, NaN, undefined, '3'])('refuses %s as a number of partitions, naming the topic, and asks no broker', async (partitions) => {
    const world = await testWorld()
    const refused = world.client().admin().createPartitions([{ name: 'fine', partitions: 2 }, { name: 't', partitions: partitions as number }])
    expect(await world.rejection(refused)).toMatchObject({ code: 'MR_TOPIC_PARTITIONS_INVALID', message: expect.stringMatching(/^topic t: partitions is .*; it must be a whole number from 1/) })
    expect(world.cluster.callsOf(37)).toEqual([])
  })

  it.each([0, 1.5, 2 ** 31, NaN, '3'])('refuses %s as a number of partitions of a new topic, and asks no broker', async (partitions) => {
    const world = await testWorld()
    const refused = world.client().admin().createTopics([{ name: 't', partitions: partitions as number }])
    expect(await world.rejection(refused)).toMatchObject({ code: 'MR_TOPIC_PARTITIONS_INVALID', message: expect.stringMatching(/^topic t: partitions is /) })
    const replicas = world.client().admin().createTopics([{ name: 't', replicationFactor: 1.5 }])
    expect(await world.rejection(replicas)).toMatchObject({ code: 'MR_TOPIC_REPLICATION_INVALID' })
    expect(world.cluster.callsOf(19)).toEqual([])
  })

  it('ends calls under way when it is closed, or when the caller aborts', async () => {
    const world = await testWorld()
    const client = world.client()
    const admin = client.admin()
    world.cluster.script = call => call.api.key === 3 ? 'swallow' : undefined
    const listed = admin.listTopics().catch((error: unknown) => error)
    const abort = new AbortController()
    const aborted = client.admin().listTopics({ signal: abort.signal }).catch((error: unknown) => error)
    await world.scheduler.runFor(100)
    abort.abort(new Error('enough'))
    expect(await world.complete(aborted)).toMatchObject({ message: 'enough' })
    await world.complete(admin.close())
    expect(await world.complete(listed)).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
    expect(await world.rejection(admin.listTopics())).toMatchObject({ code: 'MR_CLIENT_CLOSED' })
  })
})

describe('an argument of an admin that is none', () => {
  /** As from a program without types. */
  const any = (value: unknown): never => value as never
  const calls: readonly (readonly [string, (admin: Admin) => unknown, string])[] = [
    ['a topic with the name of its name', a => a.createTopics(any([{ topic: 'cl' }])), 'admin.createTopics: [0]: topic is unknown here; did you mean name?'],
    ['a topic with other clients\' names', a => a.createTopics(any([{ name: 'a', numPartitions: 3 }])), '[0]: numPartitions is unknown here; did you mean partitions?'],
    ['a topic with a misspelt number', a => a.createTopics(any([{ name: 'a', partitons: 3 }])), '[0]: partitons is unknown here; did you mean partitions?'],
    ['a topic without a name', a => a.createTopics(any([{}])), '[0]: name is undefined; it is a text'],
    ['topics that are texts', a => a.createTopics(any(['a'])), '[0] was given as "a"; it takes an object: { name: \'orders\''],
    ['topics in an object', a => a.createTopics(any({ topics: [{ topic: 'a' }] })), 'admin.createTopics: it was given {"topics":[{"topic":"a"}]}; it takes an array: [{ name'],
    ['nothing to create', a => a.createTopics(any(undefined)), 'it was given undefined; it takes an array'],
    ['settings that are numbers', a => a.createTopics(any([{ name: 'a', configs: { 'retention.ms': 5 } }])), 'configs is an object; it is an object of names and texts'],
    ['assignments that are no lists', a => a.createTopics(any([{ name: 'a', assignments: [1] }])), 'it is the node ids of each partition'],
    ['an option that does not exist', a => a.createTopics([{ name: 'a' }], any({ validateonly: true })), 'options: validateonly is unknown here; did you mean validateOnly?'],
    ['options that are none', a => a.listTopics(any(5)), 'admin.listTopics: options was given as 5; it takes an object'],
    ['one name to delete', a => a.deleteTopics(any('a')), 'admin.deleteTopics: it was given "a"; it takes an array of names'],
    ['objects to delete', a => a.deleteTopics(any([{ name: 'a' }])), 'it takes an array of names'],
    ['an undefined name', a => a.describeTopics(any([undefined])), 'admin.describeTopics: it was given [null]; it takes an array of names'],
    ['more partitions of a topic', a => a.createPartitions(any([{ topic: 'a', partitions: 3 }])), 'topic is unknown here; did you mean name?'],
    ['a resource by other names', a => a.describeConfigs(any([{ resourceType: 'topic', resourceName: 'a' }])), 'resourceType is unknown here; did you mean type?'],
    ['a resource of Kafka\'s number', a => a.describeConfigs(any([{ type: 2, name: 'a' }])), 'type is 2; it is one of topic, broker'],
    ['changes that are missing', a => a.incrementalAlterConfigs(any([{ type: 'topic', name: 'a' }])), 'changes is undefined; it is an array: [{ name'],
    ['changes by another name', a => a.incrementalAlterConfigs(any([{ type: 'topic', name: 'a', configs: [] }])), 'configs is unknown here; did you mean changes?'],
    ['a change without an operation', a => a.incrementalAlterConfigs(any([{ type: 'topic', name: 'a', changes: [{ name: 'x', value: '1' }] }])), '[0].changes[0]: operation is undefined; it is one of set, delete'],
    ['a change to a number', a => a.incrementalAlterConfigs(any([{ type: 'topic', name: 'a', changes: [{ name: 'x', operation: 'set', value: 1 }] }])), 'value is 1; it is a text'],
    ['an offset at a time that is not wrapped', a => a.listOffsets(any([{ topic: 'a', partition: 0, timestamp: 5 }])), 'timestamp is unknown here; did you mean at: { timestamp }?'],
    ['an offset at the latest', a => a.listOffsets(any([{ topic: 'a', partition: 0, at: 'latest' }])), 'at is "latest"; it is \'beginning\', \'end\', \'newest\' or { timestamp }, a whole number of milliseconds since 1970'],
    ['records to delete at an offset', a => a.deleteRecords(any([{ topic: 'a', partition: 0, offset: 5 }])), 'offset is unknown here; did you mean beforeOffset?'],
    ['a cluster asked with an unknown option', a => a.describeCluster(any({ timeout: 5 })), 'timeout is unknown here; did you mean timeoutMs?'],
  ]
  it.each(calls)('%s is refused with what is expected, and nobody is asked', async (_name, call, message) => {
    const world = await testWorld()
    const outcome = call(world.client().admin())
    // All reject; none throws.
    await expect(outcome).rejects.toMatchObject({ code: 'MR_CLIENT_SETTING', message: expect.stringContaining(message) })
    expect(world.cluster.calls).toEqual([])
  })
})
