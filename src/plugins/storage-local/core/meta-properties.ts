/**
 * A `meta.properties` file: whose data a directory holds. It is a Java properties file; of that format what Kafka writes is read: comments,
 * `key=value` a line, backslashes before `:`, `=`, `\`, `#` and `!`.
 */
export interface MetaProperties {
  /** 1 as KRaft brokers write it; 0 is of brokers with ZooKeeper. */
  readonly version: number
  readonly clusterId: string | undefined
  readonly nodeId: number | undefined
  readonly directoryId: string | undefined
}

export function formatMetaProperties(meta: { readonly clusterId: string, readonly nodeId: number, readonly directoryId: string }): string {
  return `#\nversion=1\ncluster.id=${meta.clusterId}\nnode.id=${meta.nodeId}\ndirectory.id=${meta.directoryId}\n`
}

/** Undefined when the text names no known version. */
export function parseMetaProperties(text: string): MetaProperties | undefined {
  const fields = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith('!')) continue
    const match = /^((?:\\.|[^=:\s\\])+)\s*[=:]?\s*(.*)$/.exec(trimmed)
    if (match !== null) fields.set(unescape(match[1]!), unescape(match[2]!))
  }
  const version = fields.get('version') ?? '0'
  if (version !== '0' && version !== '1') return undefined
  const nodeId = fields.get(version === '1' ? 'node.id' : 'broker.id')
  return {
    version: Number(version),
    clusterId: fields.get('cluster.id'),
    nodeId: nodeId === undefined || !/^-?\d+$/.test(nodeId) ? undefined : Number(nodeId),
    directoryId: fields.get('directory.id'),
  }
}

const unescape = (text: string): string => text.replace(/\\(.)/g, '$1')
