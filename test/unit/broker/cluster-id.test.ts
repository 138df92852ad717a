import { describe, expect, it } from 'vitest'
import { findCluster } from '../../../src/broker/cluster-id.ts'
import { MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../src/testkit/world/seeded-random.ts'

const clusterId = 'AAAAAAAAAAAAAAAAAAAAAQ'

function put(files: MemoryFileSystem, path: string, text: string): void {
  const file = files.open(path, 'ensure')
  file.write([new TextEncoder().encode(text)], 0)
  file.close()
}

/** A data directory that says whose it is, and one beside it that holds nothing yet. */
function directories({ withPartition }: { readonly withPartition: boolean }): MemoryFileSystem {
  const files = new MemoryFileSystem()
  for (const path of ['/a', '/b']) files.makeDirectory(path)
  put(files, '/a/meta.properties', `version=1\ncluster.id=${clusterId}\n`)
  if (withPartition) {
    files.makeDirectory('/a/t-0')
    put(files, '/a/t-0/partition.metadata', 'version: 0\n')
  }
  files.faults.add({ operation: 'open', path: '/a/meta.properties', error: 'EACCES' })
  return files
}

const find = (files: MemoryFileSystem) => findCluster(files, new SeededRandom(1), ['/a', '/b'])

describe('meta.properties that is there and cannot be read', () => {
  it('beside partitions is told as what it is, and not as lost', () => {
    expect(() => find(directories({ withPartition: true }))).toThrow(expect.objectContaining({ code: 'MR_FILE_DENIED' }))
  })

  it('is no matter where another directory says whose they are', () => {
    const files = directories({ withPartition: true })
    put(files, '/b/meta.properties', `version=1\ncluster.id=${clusterId}\n`)
    expect(find(files)).toMatchObject({ clusterId, drawn: false, partition: '/a/t-0' })
  })

  it('without a partition is left to whoever takes the directory into use', () => {
    expect(find(directories({ withPartition: false }))).toMatchObject({ drawn: true, partition: undefined })
  })
})
