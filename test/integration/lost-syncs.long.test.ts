import { describe, expect, it } from 'vitest'
import { few, runProtocol } from '../crash/images/crash-protocol.ts'
import { crashProtocols } from '../crash/images/crash-protocols.ts'
import { LostSync } from '../crash/images/lost-syncs.ts'
import { root } from '../meta/source-tree.ts'
import { callSites } from '../sim/io/call-sites.ts'
import { SiteTracer } from '../sim/io/site-tracer.ts'

const sites = new Map(callSites(root).map(site => [site.name, site]))
const tracer = new SiteTracer([...sites.values()])

/** Call sites of a sync, and the protocol and seed that miss it first. */
const found: readonly (readonly [site: string, protocol: string, seed: number])[] = [
  ['plugins/storage-local/io/partition-directory.ts makePartitionDirectory syncNow', 'topic create', 1],
  ['plugins/storage-local/io/partition-directory.ts makePartitionDirectory syncDirectory', 'topic create', 1],
  ['plugins/storage-local/io/partition-directory.ts makePartitionDirectory syncDirectory 2', 'topic create', 1],
  ['plugins/storage-local/io/data-directory.ts DataDirectory.open syncDirectory', 'truncate after a stop', 1],
  ['plugins/storage-local/io/segment-sync.ts syncSegment sync', 'roll', 3],
  ['plugins/storage-local/io/segment-sync.ts syncSegment syncDirectory', 'roll', 3],
  ['plugins/storage-local/io/segment-sync.ts syncSides sync', 'checkpoint', 2],
  ['plugins/storage-local/io/checkpoint-file.ts CheckpointFile.stage syncNow', 'prefix delete', 1],
  ['plugins/storage-local/io/checkpoint-file.ts CheckpointFile.place syncDirectory', 'retention in slices', 1],
  ['plugins/storage-local/io/redo-files.ts RedoFiles.filled syncDirectory', 'first file of the redo log', 1],
  ['plugins/storage-local/redo-log.ts RedoLog.sync sync', 'append and redo', 1],
  ['plugins/storage-local/redo-log.ts RedoLog.writeAndWait syncNow 2', 'truncate', 1],
  ['plugins/storage-local/log-truncation.ts syncAll syncNow', 'truncate', 1],
  ['plugins/storage-local/io/segment-sums.ts SegmentSums.truncate syncNow', 'truncate', 1],
  ['plugins/storage-local/log-directory.ts LogDirectory.mark syncDirectory', 'topic delete', 3],
  ['plugins/storage-local/io/cleaned-segment.ts synced sync', 'compaction', 1],
  ['plugins/storage-local/log-loader.ts LogLoader.keep syncNow', 'start after a failure', 2],
  ['plugins/storage-local/log-finish.ts finishLog syncDirectory', 'two data directories, stop and start', 1],
  ['plugins/coordination-single/io/witness-file.ts WitnessFile.create syncDirectory', 'metadata and its witness', 1],
  ['plugins/coordination-single/io/witness-file.ts WitnessFile.write sync', 'metadata, start after a power cut', 1],
]

describe('a disk on which one call site has nothing synced is found out:', () => {
  it.each(found)('%s, by %s, seed %i', async (name, protocol, seed) => {
    const site = sites.get(name)
    if (site === undefined) throw new Error(`there is no call ${name} any more: name the one that has taken its place`)
    const lost = new LostSync(tracer, site)
    const { faults } = await runProtocol(crashProtocols.find(each => each.name === protocol)!, { seed, ...few, faultsMax: 1, spoil: lost.spoil })
    expect(lost.hits, 'the call is reached').toBeGreaterThan(0)
    expect(faults.length, 'something promised is missing').toBe(1)
  })
})
