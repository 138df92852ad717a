import { Prng } from '../../../../src/base/prng.ts'
import { entryKey, hardStateKey } from '../../../../src/kernel/consensus-log/store-layout.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { keepCrashMoments } from '../../../../src/testkit/index.ts'
import { type MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { damageSnapshot, made, metadataPath, recover, remove, topicsOf, type FoundTopics } from '../../../unit/broker/recovery-disk.ts'
import { bytesOf } from '../../../unit/plugins/storage-local/store-subjects.ts'
import { type CrashProtocol, type Recovery } from '../crash-protocol.ts'

/** What is wrong with the metadata before it is recovered. */
const damages: readonly { readonly what: string, readonly hasNoSnapshot?: boolean, readonly apply: (files: MemoryFileSystem) => void | Promise<void> }[] = [
  { what: 'a hole in the log', hasNoSnapshot: true, apply: files => remove(files, entryKey(4)) },
  { what: 'no witness', apply: files => files.remove(`${metadataPath}/witness.dat`) },
  { what: 'nothing left', apply: files => files.remove(metadataPath) },
  { what: 'a rotten snapshot', apply: damageSnapshot },
  { what: 'a log that was cut off', apply: files => { files.damage.truncate(`${metadataPath}/log/store.log`, Math.floor(files.stat(`${metadataPath}/log/store.log`)!.bytes / 2)) } },
  { what: 'no hard state', apply: files => remove(files, hardStateKey) },
]

/** What has to come of it, however often it is begun anew. */
interface Truth {
  readonly found: FoundTopics
  /** Of the metadata as it was; undefined where there was none. */
  readonly old: ReadonlyMap<string, string> | undefined
  /** A recovery was done before, and kept it: what the next one keeps is that one's. */
  readonly isKept: boolean
  /** The data directory, without what locks it. */
  readonly data: ReadonlyMap<string, string>
}

/** All files below a directory by their paths in it, as hexadecimal digits. */
function contentOf(files: MemoryFileSystem, directory: string, below = ''): Map<string, string> {
  const content = new Map<string, string>()
  for (const name of files.list(`${directory}${below}`)) {
    const path = `${below}/${name}`
    if (files.stat(`${directory}${path}`)!.kind === 'file') content.set(path, Buffer.from(bytesOf(files, `${directory}${path}`)).toString('hex'))
    else if (name !== '.lock') for (const [each, bytes] of contentOf(files, directory, path)) content.set(each, bytes)
  }
  return content
}

const isSame = (left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean =>
  left.size === right.size && [...left].every(([path, bytes]) => right.get(path) === bytes)

/** Names beside the data directory: the metadata, what is kept of it, and what a recovery makes. */
const besides = (files: MemoryFileSystem): string[] => files.list('/').filter(name => name !== 'data')

/** Where the old metadata is, whole. */
const oldIn = (files: MemoryFileSystem, old: ReadonlyMap<string, string>): string | undefined =>
  besides(files).find(name => /^meta(\.before-recovery\.\d+)?$/.test(name) && isSame(contentOf(files, `/${name}`), old))

/** Producer ids that were given must not be given again, and leader epochs must not come back: a recovery of a recovery may go further. */
function differs({ topics, clusterId, nextProducerId }: FoundTopics, truth: FoundTopics): string | undefined {
  const shown = (found: FoundTopics['topics']): string => JSON.stringify(found.map(({ epochs: _, ...rest }) => rest))
  if (clusterId !== truth.clusterId) return `it is of cluster ${clusterId}`
  if (shown(topics) !== shown(truth.topics)) return `it has the topics ${shown(topics)}, and they are ${shown(truth.topics)}`
  if (nextProducerId < truth.nextProducerId) return `producer ids go on from ${nextProducerId}, below ${truth.nextProducerId}`
  const low = topics.find(({ epochs }, index) => epochs.some((epoch, partition) => epoch < truth.topics[index]!.epochs[partition]!))
  return low === undefined ? undefined : `leader epochs of ${low.name} go back to ${low.epochs.join()}`
}

const refusals = /^MR_CLUSTER_(METADATA_CORRUPT|METADATA_LOST|METADATA_UNREADABLE|RECOVERY_UNFINISHED)$/

/** What a broker finds that is started on a copy: a text where it refuses, which it may only say in these words. */
async function started(files: MemoryFileSystem): Promise<FoundTopics | string> {
  try {
    return await topicsOf(files.afterCrash({ keepUnsynced: 'all' }), { foundPartition: 'orders-0' })
  } catch (error) {
    if (isMillraceError(error) && refusals.test(error.code)) return error.code
    throw error
  }
}

/**
 * No broker starts on anything but what the recovery was to make; the old metadata is still there, byte for byte; and a recovery that is run again, by another
 * process, ends as one that was never disturbed, also after the power is cut once more.
 */
async function check(files: MemoryFileSystem, { found: truth, old, isKept, data }: Truth, number: number): Promise<Recovery> {
  if (old !== undefined && oldIn(files, old) === undefined) throw new Error(`the old metadata is nowhere: there are ${besides(files).join()}`)
  const before = await started(files)
  if (typeof before !== 'string') {
    const wrong = differs(before, truth)
    if (wrong !== undefined) throw new Error(`a broker starts between the steps: ${wrong}`)
  }
  const report = await recover(files, 2 + number)
  const kept = old === undefined ? undefined : oldIn(files, old)
  if (old !== undefined && kept === undefined) throw new Error('the recovery that was run again loses the old metadata')
  if (kept !== undefined && !isKept && typeof before === 'string' && report.kept !== `/${kept}`) throw new Error(`the old metadata is in /${kept}, and the report says ${report.kept}`)
  const left = besides(files).filter(name => !/^meta(\.before-recovery\.\d+)?$/.test(name))
  if (left.length > 0) throw new Error(`it leaves ${left.join()}`)
  const again = files.afterCrash({ keepUnsynced: 'none' })
  if (!isSame(contentOf(again, '/data'), data)) throw new Error('the data directory is not what it was')
  const after = await started(again)
  const wrong = typeof after === 'string' ? `a broker refuses it: ${after}` : differs(after, truth)
  if (wrong !== undefined) throw new Error(`run again: ${wrong}`)
  return typeof before === 'string' ? 'fenced' : 'recovered'
}

/** `isCutBefore`: what is crashed is the recovery after one that was. */
function recoverProtocol(name: string, isCutBefore: boolean): CrashProtocol {
  return {
    name,
    async play(seed, spoil) {
      const prng = new Prng(seed)
      const damage = damages[seed % damages.length]!
      const { files: working } = await made(['orders', 'payments', 'refunds', 'a', 'b', 'c', 'd', 'e'].slice(0, prng.between(6, 8)), damage.hasNoSnapshot === true ? 1000 : 3)
      await damage.apply(working)
      for (const path of ['/', metadataPath]) if (working.stat(path) !== undefined) working.syncDirectory(path)
      let files = working.afterCrash({ keepUnsynced: 'all', systemDown: true }, { names: prng.chance(0.5) ? 'ordered' : 'each' })
      const old = files.stat(metadataPath) === undefined ? undefined : contentOf(files, metadataPath)
      const undisturbed = files.afterCrash({ keepUnsynced: 'all' })
      await recover(undisturbed, 1)
      const expected = { found: await topicsOf(undisturbed), old, data: contentOf(files, '/data') }
      if (isCutBefore) {
        const first = files.afterCrash({ keepUnsynced: 'all' })
        spoil?.(first)
        const moments = await keepCrashMoments({ files: first, run: async () => { await recover(first, 1) } })
        files = prng.pick([...prng.pick(moments).moment.images({ random: 2, seed, most: 6 })]).files
      }
      spoil?.(files)
      const truth: Truth = { ...expected, isKept: files.stat(`${metadataPath}/recovered.json`) !== undefined }
      const moments = await keepCrashMoments({ files, run: async () => { await recover(files, 1) }, note: () => truth })
      return moments.map(({ step, noted, moment }) => ({
        step, promised: noted,
        *cases(bounds) {
          for (const { what, files: left } of moment.images(bounds)) {
            yield { what, digest: left.contentDigest(), check: (number: number) => check(left, noted as Truth, number) }
          }
        },
      }))
    },
  }
}

export const recovering: readonly CrashProtocol[] = [
  recoverProtocol('cluster recover', false),
  recoverProtocol('cluster recover, again after a power cut', true),
]
