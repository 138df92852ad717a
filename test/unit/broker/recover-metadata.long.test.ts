import { describe, expect, it } from 'vitest'
import { withRecovery } from '../../../src/broker/recovery/recover-metadata.ts'
import { entryKey, hardStateKey, pointerKey } from '../../../src/kernel/consensus-log/store-layout.ts'
import { enumerateCrashes } from '../../../src/testkit/world/crash-enumeration.ts'
import { LogKeyValueEngine } from '../../../src/testkit/world/log-key-value-engine.ts'
import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { makeController, startController } from '../plugins/cluster-metadata/controller-bench.ts'
import { clusterId } from '../plugins/cluster-metadata/core/metadata-fixtures.ts'
import { bytesOf as contentOf } from '../plugins/storage-local/store-subjects.ts'
import { damageSnapshot, made, metadataPath, options, put, putPartition, recover, remove, topicsOf, worldOn } from './recovery-disk.ts'

const path = metadataPath

const bytesOf = (files: MemoryFileSystem, name: string): string => Buffer.from(contentOf(files, name)).toString('hex')

describe('a recovery', () => {
  it('of a log that is whole but for its witness keeps every topic with its settings, and says that it cannot know more', async () => {
    const { files, ids } = await made(['empty', 'orders'])
    files.remove(`${path}/witness.dat`)
    const report = await recover(files)
    expect(report).toMatchObject({ isWhole: false, lostCommands: null, clusterId, nodeId: 1, kept: '/meta.before-recovery.1', lastIndex: 4 })
    expect(report.assumed[0]).toMatch(/no witness .* can be read/)
    expect(report.topics.map(({ name, from }) => [name, from])).toEqual([['empty', 'metadata'], ['orders', 'metadata']])
    const { topics } = await topicsOf(files)
    expect(topics.map(({ name, id, retention }) => [name, id, retention])).toEqual([['empty', ids.get('empty'), undefined], ['orders', ids.get('orders'), '1234']])
  })

  it('of a log with a hole takes what lies before it, makes the later topics again from their directories, and says what is lost', async () => {
    const { files, ids } = await made(['orders', 'payments', 'refunds'], 1000, 7)
    // Commands: cluster, broker, orders, payments, refunds.
    await remove(files, entryKey(4))
    const before = bytesOf(files, `${path}/log/store.log`)
    const report = await recover(files)
    expect(report).toMatchObject({ isWhole: false, lastIndex: 3, lostCommands: 2, left: [], replaced: [] })
    expect(report.topics.map(({ name, from, partitions }) => [name, from, partitions])).toEqual([['orders', 'metadata', 2], ['payments', 'directories', 2], ['refunds', 'directories', 2]])
    expect(bytesOf(files, '/meta.before-recovery.1/log/store.log')).toBe(before)
    const { topics, nextProducerId } = await topicsOf(files)
    expect(topics.map(({ name, id, retention }) => [name, id, retention])).toEqual([['orders', ids.get('orders'), '1234'], ['payments', ids.get('payments'), '-1'], ['refunds', ids.get('refunds'), '-1']])
    expect(Math.min(...topics.flatMap(({ epochs }) => epochs))).toBeGreaterThan(1000)
    expect(topics.flatMap(({ leaders }) => leaders)).toEqual([1, 1, 1, 1, 1, 1])
    expect(nextProducerId).toBe(2 ** 40)
  })

  it('of nothing but partition directories makes their topics again; a second one never gives the same producer ids', async () => {
    const { files, ids } = await made(['orders', 'payments'])
    files.remove(path)
    const report = await recover(files)
    expect(report).toMatchObject({ isWhole: false, lastIndex: 0, lostCommands: null, kept: null })
    expect((await topicsOf(files)).topics.map(({ name, id }) => [name, id])).toEqual([...ids].sort())
    files.remove(`${path}/witness.dat`)
    await recover(files)
    expect((await topicsOf(files)).nextProducerId).toBe(2 ** 41)
  })

  it('with a rotten newest snapshot goes back to the one before, and loses nothing', async () => {
    const { files } = await made(['a', 'b', 'c', 'd', 'orders', 'e', 'f', 'g'], 3)
    await damageSnapshot(files)
    await expect(startController(new LogKeyValueEngine(files), { files })).rejects.toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT' })
    const report = await recover(files)
    expect(report).toMatchObject({ isWhole: true, lostCommands: 0, assumed: [], lastIndex: 10 })
    expect(report.snapshotIndex).toBe(6)
    const { topics } = await topicsOf(files)
    expect(topics.map(({ name, retention }) => [name, retention])).toEqual([['a', undefined], ['b', undefined], ['c', undefined], ['d', undefined], ['e', undefined], ['f', undefined], ['g', undefined], ['orders', '1234']])
  })

  it('without snapshot pointer, hard state or first entries makes no history up', async () => {
    for (const keys of [[pointerKey], [hardStateKey], [entryKey(1)]]) {
      const { files } = await made(['orders', 'payments'])
      await remove(files, ...keys)
      const report = await recover(files)
      const isLogThere = keys[0] !== undefined && !keys[0].every((byte, index) => byte === entryKey(1)[index])
      expect(report.lastIndex).toBe(isLogThere ? 4 : 0)
      expect((await topicsOf(files)).topics.map(({ name }) => name)).toEqual(['orders', 'payments'])
    }
  })

  it('leaves directories that no topic can take where they are, each with the reason', async () => {
    const { files, ids } = await made(['orders'])
    await remove(files, entryKey(3))
    putPartition(files, '/data/nameless-0', 'no id')
    putPartition(files, '/data/huge-999999999', 'mKYwH6x0QDuRL3bZ1OyCmA')
    putPartition(files, '/data/orders-5', 'nKYwH6x0QDuRL3bZ1OyCmA', { records: '' })
    const report = await recover(files)
    expect(report.topics.map(({ name, topicId }) => [name, topicId])).toEqual([['orders', ids.get('orders')]])
    expect(report.left.map(({ path: directory }) => directory).sort()).toEqual(['/data/huge-999999999', '/data/nameless-0', '/data/orders-5'])
    expect(files.list('/data')).toEqual(expect.arrayContaining(['huge-999999999', 'nameless-0', 'orders-0', 'orders-1', 'orders-5']))
  })

  it('gives a name to the topic that has directories, and keeps a topic without any', async () => {
    const { files } = await made(['orders', 'payments', 'last'])
    await remove(files, entryKey(5))
    // After the last command that is left orders was deleted and made again; payments lost its directories.
    for (const name of ['orders-0', 'orders-1', 'payments-0', 'payments-1', 'last-0', 'last-1']) files.remove(`/data/${name}`)
    putPartition(files, '/data/orders-2', 'mKYwH6x0QDuRL3bZ1OyCmA')
    const report = await recover(files)
    expect(report.replaced.map(({ name }) => name)).toEqual(['orders'])
    expect(report.topics).toMatchObject([
      { name: 'orders', topicId: 'mKYwH6x0QDuRL3bZ1OyCmA', partitions: 3, from: 'directories', absent: [0, 1] },
      { name: 'payments', from: 'metadata', absent: [0, 1] },
    ])
    expect((await topicsOf(files)).topics.map(({ name }) => name)).toEqual(['orders', 'payments'])
  })

  it('is refused where nothing says which cluster it is, where there is nothing to recover, and while a broker has the directory', async () => {
    const { files } = await made(['orders'])
    files.remove(path)
    const lock = await worldOn(files).engine.open('/data/.lock')
    await lock.close()
    const world = worldOn(files)
    const held = await world.engine.open('/data/.lock')
    await expect(withRecovery(world, options, async () => {})).rejects.toMatchObject({ code: 'MR_LOG_DIRECTORY_LOCKED' })
    await held.close()
    files.remove('/data/meta.properties')
    await expect(recover(files)).rejects.toMatchObject({ code: 'MR_CLUSTER_RECOVERY_REFUSED', details: { reason: expect.stringContaining('restore a meta.properties') } })
    put(files, '/data/meta.properties', `version=1\ncluster.id=${clusterId}\nnode.id=1\n`)
    for (const name of ['orders-0', 'orders-1']) files.remove(`/data/${name}`)
    await expect(recover(files)).rejects.toMatchObject({ code: 'MR_CLUSTER_RECOVERY_REFUSED' })
    expect(files.stat(path)).toBeUndefined()
  })

  it('of a directory that cannot be renamed fails and leaves everything as it was', async () => {
    const { files } = await made(['orders'])
    await remove(files, entryKey(2))
    const before = bytesOf(files, `${path}/log/store.log`)
    files.faults.add({ operation: 'rename', path, error: 'EIO', times: 1 })
    await expect(recover(files)).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })
    expect(bytesOf(files, `${path}/log/store.log`)).toBe(before)
    await expect(startController(new LogKeyValueEngine(files), { files })).rejects.toMatchObject({ code: 'MR_CLUSTER_METADATA_CORRUPT' })
    await recover(files)
    expect((await topicsOf(files)).topics.map(({ name }) => name)).toEqual(['orders'])
  })

  it('that ended between its two renames says where the old metadata is when it is run again', async () => {
    const { files } = await made(['orders'])
    await remove(files, entryKey(2))
    const before = bytesOf(files, `${path}/log/store.log`)
    files.faults.add({ operation: 'rename', path: `${path}.recovering`, error: 'EIO', times: 1 })
    await expect(recover(files)).rejects.toMatchObject({ code: 'MR_FILE_FAILED' })
    expect(files.stat(path)).toBeUndefined()
    expect(await recover(files)).toMatchObject({ kept: '/meta.before-recovery.1' })
    expect(bytesOf(files, '/meta.before-recovery.1/log/store.log')).toBe(before)
    expect((await topicsOf(files)).topics.map(({ name }) => name)).toEqual(['orders'])
  })

  it('that only looks changes nothing', async () => {
    const { files } = await made(['orders'])
    await remove(files, entryKey(2))
    const before = [files.list('/'), bytesOf(files, `${path}/log/store.log`), bytesOf(files, `${path}/witness.dat`)]
    await withRecovery(worldOn(files), options, async () => {})
    expect([files.list('/'), bytesOf(files, `${path}/log/store.log`), bytesOf(files, `${path}/witness.dat`)]).toEqual(before)
  })
})

describe('a power cut in a recovery', () => {
  it('between any two steps leaves the old metadata somewhere, and one that is run again ends as if nothing had been; no broker starts on what is between', async () => {
    const { files } = await made(['orders', 'payments', 'refunds'])
    await remove(files, entryKey(4))
    const names = files.list('/data')
    const before = bytesOf(files, `${path}/log/store.log`)
    const start = files.afterCrash({ keepUnsynced: 'all' })
    const expected = files.afterCrash({ keepUnsynced: 'all' })
    await recover(expected)
    const { topics } = await topicsOf(expected)
    let refused = 0
    const { moments } = await enumerateCrashes({
      files: start, run: async () => { await recover(start) }, random: 2, most: 8,
      check: async (left) => {
        const kept = left.list('/').filter((name) => name === 'meta' || name.startsWith('meta.before-recovery')).filter((name) => left.stat(`/${name}/log/store.log`) !== undefined)
        expect(kept.some((name) => bytesOf(left, `/${name}/log/store.log`) === before)).toBe(true)
        // A broker either does not start, or has all that the recovery gives.
        const running = makeController(new LogKeyValueEngine(left), { files: left, seed: 2 })
        const isDone = left.stat(`${path}/recovered.json`) !== undefined
        if (isDone) return expect((await topicsOf(left)).topics).toEqual(topics)
        await expect(running.start()).rejects.toMatchObject({ code: expect.stringMatching(/^MR_CLUSTER_(METADATA_CORRUPT|RECOVERY_UNFINISHED)$/) })
        await running.stop()
        refused++
        await recover(left)
        expect((await topicsOf(left)).topics).toEqual(topics)
        expect(left.list('/data').filter((name) => name !== '.lock')).toEqual(names)
      },
    })
    expect(moments).toBeGreaterThan(20)
    expect(refused).toBeGreaterThan(20)
  })
})
