import {
  apiVersionsApi, codecFor, describeClusterApi, describeConfigsApi, initProducerIdApi, BytesReader,
} from '../../../../src/wire/index.ts'
import { scenario, type Scenario } from '../scenario.ts'

const apiVersions: Scenario['run'] = async (talk, version) => {
  const ask = async (step: string, clientSoftwareName: string, clientSoftwareVersion = '1.0'): Promise<void> => {
    await talk.ask(step, apiVersionsApi, version, version >= 3 ? { clientSoftwareName, clientSoftwareVersion } : {}, answer => ({
      errorCode: answer.errorCode,
      // What is offered differs by design; the lowest versions of what both offer must not
      apis: answer.apiKeys.filter(({ apiKey }) => [0, 1, 2, 3, 18, 19, 20, 22, 23, 32].includes(apiKey))
        .map(({ apiKey, minVersion }) => ({ apiKey, minVersion })).sort((a, b) => a.apiKey - b.apiKey),
    }))
  }
  await ask('asked', 'differential')
  if (version < 3) return
  await ask('no name', '')
  await ask('a name with a blank', 'a b')
  await ask('a version that cannot be', 'ok', '-')
}

/** Frames that no codec would write. */
const frames: Scenario['run'] = async talk => {
  const frame = (...parts: (Buffer | number[])[]): Buffer => {
    const body = Buffer.concat(parts.map(part => Buffer.from(part)))
    const size = Buffer.alloc(4)
    size.writeInt32BE(body.length)
    return Buffer.concat([size, body])
  }
  const header = (apiKey: number, version: number, ...more: number[]): Buffer => Buffer.from([0, apiKey, 0, version, 0, 0, 0, 9, 0, 1, 0x61, ...more])
  await talk.raw('ApiVersions of a version too new', frame(header(18, 50, 0)), answer => {
    const { errorCode, apiKeys } = codecFor(apiVersionsApi.response, 0).read(new BytesReader(answer.subarray(4)))
    return { errorCode, keys: apiKeys.map(({ apiKey }) => apiKey) }
  })
  await talk.raw('ApiVersions with a null client id', frame([0, 18, 0, 0, 0, 0, 0, 9, 0xff, 0xff]), answer => answer.readInt16BE(4))
  await talk.raw('ApiVersions with bytes behind', frame(header(18, 0, 1, 2, 3)), answer => answer.readInt16BE(4))
  await talk.raw('Metadata with bytes behind', frame(header(3, 1, 0, 0, 0, 0, 7, 7)), answer => answer.readInt32BE(4))
  await talk.raw('unknown API', frame(header(120, 0)))
  await talk.raw('an API of brokers', frame(header(7, 0)))
  await talk.raw('Produce version 2', frame(header(0, 2)))
  await talk.raw('Fetch version 3', frame(header(1, 3)))
  await talk.raw('Fetch version 99', frame(header(1, 99)))
  await talk.raw('size 0', Buffer.from([0, 0, 0, 0]))
  await talk.raw('negative size', Buffer.from([0xff, 0xff, 0xff, 0xff]))
  await talk.raw('size above the limit', Buffer.from([0x7f, 0xff, 0xff, 0xff]))
  await talk.raw('a header cut off', frame([0, 18, 0, 0, 0, 0]))
  await talk.raw('client id longer than the frame', frame([0, 18, 0, 0, 0, 0, 0, 9, 0, 99, 0x61]))
  await talk.raw('a body cut off', frame(header(3, 1, 0, 0)))
  await talk.raw('an array longer than the frame', frame(header(3, 1, 0x7f, 0xff, 0xff, 0xff)))
  await talk.raw('HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
}

const producerIds: Scenario['run'] = async (talk, version) => {
  const ask = async (step: string, request: { transactionalId: string | null; transactionTimeoutMs?: number; producerId?: number; producerEpoch?: number }): Promise<void> => {
    await talk.ask(step, initProducerIdApi, version, { transactionTimeoutMs: 60_000, ...request })
  }
  await ask('first', { transactionalId: null })
  await ask('second', { transactionalId: null })
  await ask('empty transactional id', { transactionalId: '' })
  await ask('timeout 0', { transactionalId: null, transactionTimeoutMs: 0 })
  if (version < 3) return
  await ask('an id of its own', { transactionalId: null, producerId: 4000, producerEpoch: 3 })
  await ask('an id without epoch', { transactionalId: null, producerId: 4000 })
  await ask('an epoch without id', { transactionalId: null, producerEpoch: 3 })
}

const configs: Scenario['run'] = async (talk, version) => {
  const name = await talk.create('configs', 1, { 'retention.ms': '1000', 'cleanup.policy': 'compact' })
  const ask = async (step: string, resourceType: number, resourceName: string, configurationKeys: string[] | null, more: object = {}): Promise<void> => {
    await talk.ask(step, describeConfigsApi, version, { resources: [{ resourceType, resourceName, configurationKeys }], ...more }, answer => answer.results.map(result => ({
      ...result,
      configs: Object.fromEntries(result.configs.map(config => [config.name, { ...config, name: '' }])),
    })))
  }
  await ask('all of a topic', 2, name, null)
  await ask('all of a topic with synonyms', 2, name, null, { includeSynonyms: true })
  await ask('two of a topic', 2, name, ['retention.ms', 'segment.bytes'])
  await ask('none of a topic', 2, name, [])
  await ask('an unknown key', 2, name, ['no.such.setting'])
  await ask('an unknown topic', 2, talk.topic('missing'), null)
  await ask('a topic name that cannot be', 2, 'a b', null)
  await ask('no topic name', 2, '', null)
  await ask('one of the broker', 4, '1', ['log.retention.ms'])
  await ask('one of the default broker', 4, '', ['log.retention.ms'])
  await ask('another broker', 4, '7', null)
  await ask('a broker name that cannot be', 4, 'one', null)
  await ask('an unknown type', 77, 'x', null)
}

const cluster: Scenario['run'] = async (talk, version) => {
  await talk.ask('cluster', describeClusterApi, version, { includeClusterAuthorizedOperations: false })
  await talk.ask('with operations', describeClusterApi, version, { includeClusterAuthorizedOperations: true })
  if (version < 1) return
  for (const endpointType of [2, 9]) {
    await talk.ask(`endpoint type ${endpointType}`, describeClusterApi, version, { includeClusterAuthorizedOperations: false, endpointType })
  }
}

export const brokerScenarios: readonly Scenario[] = [
  scenario(apiVersionsApi, 'what is offered', [0, 4], apiVersions),
  scenario({ key: 18, name: 'frames' }, 'no codec would write', [0, 0], frames),
  scenario(initProducerIdApi, 'ids', [0, 5], producerIds),
  scenario(describeConfigsApi, 'settings', [1, 4], configs),
  scenario(describeClusterApi, 'cluster', [0, 1], cluster),
]
