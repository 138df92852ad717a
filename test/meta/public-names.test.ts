import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as client from '../../src/client/index.ts'
import * as millrace from '../../src/index.ts'
import { importsOf, root, sourceFiles } from './source-tree.ts'

/** Who depends on a name must be able to rely on it: one that is added or taken away is added or taken away here. */
const values = [
  'Admin', 'Broker', 'Client', 'Consumer', 'ConsumerRecord', 'GroupConsumer', 'MillraceError', 'Producer', 'SerdeFault', 'TypedConsumer',
  'TypedRecord', 'TypedTopic', 'avro', 'bytes', 'createAdmin', 'createBroker', 'createClient', 'createConsumer', 'createProducer',
  'defineConfig', 'definePlugin', 'errorTable', 'every', 'isMillraceError', 'isUndecodable', 'json', 'maybe', 'partitionOfKey', 'protobuf',
  'schemaRegistry', 'text', 'token', 'topic', 'typedConsumer',
]
const types = [
  'AdminOptions', 'AlterConfigsOptions', 'AnyTypedTopic', 'Assignment', 'AssignorName', 'AvroOptions', 'BrokerOptions', 'Bytes',
  'ClientOptions', 'ClientWorld', 'CloseOptions', 'ClusterDescription', 'CommitOptions', 'CommittedOffset', 'Compatibility', 'ConfigChange',
  'ConfigChanges', 'ConfigDescription', 'ConfigEntry', 'ConfigResource', 'ConfigSource', 'ConnectionSettings', 'ConsumerOptions',
  'CreateTopicsOptions', 'CreatedTopic', 'DescribeConfigsOptions', 'ErrorCode', 'GroupDescription', 'GroupListing',
  'GroupMemberDescription', 'GroupMembership', 'GroupOffsetReset', 'GroupOptions', 'HeadersToSend', 'InProcessSettings', 'JsonOptions',
  'LeaveOptions', 'ListGroupsOptions', 'ListOffsetsOptions', 'ListTopicsOptions', 'LogStart', 'MorePartitions', 'NewTopic', 'NodeInfo',
  'OffsetAnswer', 'OffsetFound', 'OffsetReset', 'OffsetToCommit', 'OffsetWanted', 'PartitionInfo', 'PartitionLag', 'Partitioner', 'Plugin',
  'PluginChoice', 'PluginDefinition', 'PollOptions', 'PresetName', 'ProducerOptions', 'ProducerRecord', 'ProtoMessage', 'ProtobufOptions',
  'QueryOptions', 'Re2Pattern', 'RebalanceListeners', 'RecordMetadata', 'RecordOf', 'RecordToSend', 'RecordsToDelete',
  'RegisteredAvroOptions', 'RegisteredJsonOptions', 'RegisteredProtobufOptions', 'RegistryAuth', 'RegistryUse', 'RegistryWorld',
  'SaslOptions', 'Schema', 'SchemaReference', 'SchemaRegistry', 'SchemaRegistryOptions', 'SchemaType', 'Serde', 'SerdePlace',
  'StandardSchema', 'Start', 'SubjectNames', 'SubjectVersion', 'Token', 'TopicDescription', 'TopicListing', 'TopicPartition', 'TopicSerdes',
  'TypedConsumerOptions', 'UndecodableRecordError',
]

describe('the package millrace', () => {
  it('offers these values and no other', () => {
    expect(Object.keys(millrace).sort()).toEqual(values)
  })

  it('offers these types and no other', () => {
    expect(exportedNames('src/index.ts').filter((name) => !values.includes(name)).sort()).toEqual(types)
  })

  it('offers all of millrace/client', () => {
    expect(millrace).toMatchObject({ ...client })
    expect(exportedNames('src/client/index.ts').filter((name) => !values.includes(name) && !types.includes(name))).toEqual([])
  })

  it('offers every port of the kernel under millrace/kernel: what a plugin of ours provides, anybody\'s may', () => {
    const index = readFileSync(join(root, 'src/kernel/index.ts'), 'utf8')
    const ports = readdirSync(join(root, 'src/kernel/ports')).filter((name) => name.endsWith('.ts'))
    expect(ports.filter((name) => !index.includes(`'./ports/${name}'`))).toEqual([])
  })

  it('offers under millrace/kernel every module of the kernel and of base that a plugin of ours imports', () => {
    const index = importsOf('kernel/index.ts').map(({ to }) => to)
    const used = new Set(sourceFiles().filter((path) => path.startsWith('plugins/')).flatMap((path) => importsOf(path)).map(({ to }) => to).filter((to) => /^(kernel|base)\//.test(to)))
    const indirectly = importsOf('kernel/errors/index.ts').map(({ to }) => to)
    expect(used.size).toBeGreaterThan(40)
    expect([...used].filter((to) => !index.includes(to) && !indirectly.includes(to) && to !== 'kernel/index.ts')).toEqual([])
  })

  it('loads no plugin, no host and no package when it is imported: they come with the first broker', () => {
    const loaded = loadedBy('index.ts')
    expect(loaded).toEqual(expect.arrayContaining(['client/client.ts', 'kernel/plugin/define-plugin.ts']))
    expect(loaded.filter((path) => !path.endsWith('.ts') && !path.startsWith('node:'))).toEqual([])
    expect(loaded.filter((path) => /^plugins\/|plugin-host|create-broker|config-table/.test(path))).toEqual([])
    expect(loadedBy('broker/create-broker.ts')).toEqual(expect.arrayContaining(['zod', 'inversify', 'kernel/plugin/plugin-host.ts']))
  })
})

function exportedNames(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.ES2023)
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause) ? statement.exportClause.elements.map((each) => each.name.text) : ['*']
    const isExported = ts.canHaveModifiers(statement) && ts.getModifiers(statement)?.some((each) => each.kind === ts.SyntaxKind.ExportKeyword) === true
    return isExported && 'name' in statement ? [(statement.name as ts.Identifier).text] : []
  })
}

/**
 * What a program loads with a file of src/, as it is compiled: without imports and exports of types alone, and without imports that wait for a call.
 * With verbatimModuleSyntax, all others are kept, those of which each name is a type included.
 */
function loadedBy(first: string): string[] {
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    if (!path.endsWith('.ts')) return
    const source = ts.createSourceFile(path, readFileSync(join(root, 'src', path), 'utf8'), ts.ScriptTarget.ES2023)
    for (const statement of source.statements) {
      if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) || statement.moduleSpecifier === undefined) continue
      if (ts.isImportDeclaration(statement) ? statement.importClause?.isTypeOnly === true : statement.isTypeOnly) continue
      const name = (statement.moduleSpecifier as ts.StringLiteral).text
      visit(name.startsWith('.') ? relative(join(root, 'src'), join(root, 'src', dirname(path), name)) : name)
    }
  }
  visit(first)
  return [...seen]
}
