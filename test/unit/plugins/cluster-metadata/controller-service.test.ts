import { describe, expect, it } from 'vitest'
import { MillraceError } from '../../../../src/kernel/errors/index.ts'
import { zeroUuid } from '../../../../src/kernel/model/ids.ts'
import { type TopicImage } from '../../../../src/kernel/ports/cluster-metadata.ts'
import { type Consensus } from '../../../../src/kernel/ports/consensus.ts'
import { NotedMachine } from '../../../../src/testkit/conformance/consensus.ts'
import { CrashDisk } from '../coordination-single/crash-key-value.ts'
import { makeController, startController } from './controller-bench.ts'
import { clusterId, incarnation, newTopic, registration } from './core/metadata-fixtures.ts'

const engine = () => new CrashDisk().boot().engine

describe('a start', () => {
  it('of a new cluster records which cluster it is, its feature levels, and leads', async () => {
    const { metadata, stop } = await startController(engine())
    expect(metadata.image()).toMatchObject({ clusterId, controllerId: 1, features: new Map([['metadata.version', 1]]) })
    await stop()
  })

  it('of the metadata of another cluster is refused', async () => {
    const disk = new CrashDisk()
    await (await startController(disk.boot().engine)).stop()
    const other = makeController(disk.boot().engine, { clusterId: incarnation(9, 9) })
    await expect(other.start()).rejects.toMatchObject({ code: 'MR_CLUSTER_METADATA_FOREIGN', details: { found: clusterId } })
    await other.stop()
  })

  it('of metadata that a newer release wrote is refused', async () => {
    const disk = new CrashDisk()
    const newer = makeController(disk.boot().engine).consensus
    await newer.start()
    await newer.open(new NotedMachine())
    await newer.append([Uint8Array.of(1, 1, 99, 1, 0)])
    await newer.stop()
    await expect(makeController(disk.boot().engine).start()).rejects.toMatchObject({ code: 'MR_CLUSTER_METADATA_NEWER' })
  })

  it('again is the same: nothing is recorded, and topics, settings, epochs and ids are what they were', async () => {
    const disk = new CrashDisk()
    const first = await startController(disk.boot().engine, { snapshotEntries: 3 })
    const epoch = await first.controller.registerBroker(registration(1))
    await first.controller.createTopics([newTopic('a', { configs: new Map([['retention.ms', '7']]) }), newTopic('b')], false)
    await first.controller.allocateProducerIds(1, epoch)
    const before = first.metadata.image()
    await first.stop()
    const second = await startController(disk.boot().engine)
    const after = second.metadata.image()
    expect(new Map(after.topics)).toEqual(new Map(before.topics))
    expect([...after.brokers]).toEqual([...before.brokers])
    expect(after).toMatchObject({ index: before.index, clusterId, nextProducerId: 1000 })
    expect(await second.controller.registerBroker(registration(1))).toBe(epoch)
    expect(second.metadata.image().index).toBe(before.index)
    await second.stop()
  })
})

describe('commands', () => {
  it('given at once are decided in order, each seeing the ones before it', async () => {
    const { controller, stop } = await startController(engine())
    void controller.registerBroker(registration(1))
    const [first, second, deleted, third, known] = await Promise.all([
      controller.createTopics([newTopic('a')], false), controller.createTopics([newTopic('a')], false),
      controller.deleteTopics([{ name: 'a', id: zeroUuid }]), controller.createTopics([newTopic('a')], false), controller.createTopics([newTopic('a')], true),
    ])
    expect([first, second, deleted, third, known].map(([one]) => one!.error?.code))
      .toEqual([undefined, 'MR_TOPIC_EXISTS', undefined, undefined, 'MR_TOPIC_EXISTS'])
    expect(third![0]!.id).not.toBe(first![0]!.id)
    await stop()
  })

  it('are answered when the image shows them, not before', async () => {
    const { controller, metadata, stop } = await startController(engine())
    await controller.registerBroker(registration(1))
    let answered = false
    const created = controller.createTopics([newTopic('a')], false).then(() => { answered = true })
    expect(metadata.image().topics.has('a')).toBe(false)
    const exists = controller.createTopics([newTopic('a')], false).then(([topic]) => {
      expect(metadata.image().topics.has('a')).toBe(true)
      return topic!.error!.code
    })
    metadata.subscribe((image) => { if (image.topics.has('a')) expect(answered).toBe(false) })
    await created
    expect(metadata.image().topics.has('a')).toBe(true)
    expect(await exists).toBe('MR_TOPIC_EXISTS')
    await stop()
  })

  it('of one request become visible together', async () => {
    const { controller, metadata, stop } = await startController(engine())
    await controller.registerBroker(registration(1))
    const sizes: number[] = []
    metadata.subscribe((image) => sizes.push(image.topics.size))
    await controller.createTopics(['a', 'b', 'c'].map((name) => newTopic(name)), false)
    expect(sizes).toEqual([0, 3])
    await stop()
  })

  it('give producer ids that never repeat, across restarts', async () => {
    const disk = new CrashDisk()
    const firsts: number[] = []
    for (let life = 0; life < 4; life++) {
      const { controller, stop } = await startController(disk.boot().engine, { snapshotEntries: 2 })
      const epoch = await controller.registerBroker(registration(1, life))
      firsts.push(...(await Promise.all([1, 2, 3].map(() => controller.allocateProducerIds(1, epoch)))).map((block) => block.first))
      await stop()
    }
    expect(firsts).toEqual(firsts.map((_, index) => index * 1000))
  })

  it('are refused with MR_CLUSTER_STOPPED after the stop', async () => {
    const { controller, stop } = await startController(engine())
    await stop()
    await expect(controller.createTopics([], false)).rejects.toMatchObject({ code: 'MR_CLUSTER_STOPPED' })
  })
})

describe('a consensus without space', () => {
  it('is asked before a topic is created, extended or its settings changed, and not for what takes away, makes room, registers or is little', async () => {
    let full = false
    const wrap = (real: Consensus): Consensus => ({
      open: (machine) => real.open(machine),
      checkSpace: () => { if (full) throw new MillraceError('MR_CLUSTER_NO_SPACE', { path: '/meta', freeBytes: 1, floorBytes: 2 }) },
      barrier: () => real.barrier(),
      status: () => real.status(),
      append: (commands) => real.append(commands),
    })
    const { controller, metadata, stop } = await startController(engine(), { wrap })
    const epoch = await controller.registerBroker(registration(1))
    await controller.createTopics([newTopic('a')], false)
    full = true
    const index = metadata.image().index
    await expect(controller.createTopics([newTopic('b')], false)).rejects.toMatchObject({ code: 'MR_CLUSTER_NO_SPACE', row: { retriable: true } })
    expect(metadata.image().index).toBe(index)
    expect((await controller.createTopics([newTopic('b')], true))[0]!.error).toBeUndefined()
    const more = [{ name: 'a', partitions: 9, assignment: undefined }]
    await expect(controller.createPartitions(more, false)).rejects.toMatchObject({ code: 'MR_CLUSTER_NO_SPACE' })
    expect((await controller.createPartitions(more, true))[0]!.error).toBeUndefined()
    const alter = (name: string, validateOnly = false) => controller.alterConfigs([{ topic: 'a', replaces: false, changes: [{ name, operation: 'set', value: '9000000' }] }], validateOnly)
    await expect(alter('max.message.bytes')).rejects.toMatchObject({ code: 'MR_CLUSTER_NO_SPACE' })
    expect((await alter('max.message.bytes', true))[0]!.error).toBeUndefined()
    expect((await alter('retention.ms'))[0]!.error).toBeUndefined()
    expect(metadata.image().topics.get('a')!.overrides).toEqual(new Map([['retention.ms', '9000000']]))
    await controller.allocateProducerIds(1, epoch)
    const [deleted] = await controller.deleteTopics([{ name: 'a', id: zeroUuid }])
    await controller.confirmRemovals(1, [deleted!.id])
    expect(metadata.image()).toMatchObject({ topics: { size: 0 }, removals: { size: 0 } })
    await controller.registerBroker(registration(1, 2))
    full = false
    expect((await controller.createTopics([newTopic('b')], false))[0]!.error).toBeUndefined()
    await stop()
  })
})

describe('a consensus that loses the lead', () => {
  it('takes back what was decided and not agreed: it is decided again on what is agreed', async () => {
    let losing = false
    const wrap = (real: Consensus): Consensus => ({
      open: (machine) => real.open(machine),
      checkSpace: () => real.checkSpace(),
      barrier: () => real.barrier(),
      status: () => ({ ...real.status(), leaderId: losing ? 2 : 1 }),
      append: (commands) => (losing ? Promise.reject(new Error('lost on the way')) : real.append(commands)),
    })
    const { controller, metadata, stop } = await startController(engine(), { wrap })
    await controller.registerBroker(registration(1))
    losing = true
    const results = await Promise.allSettled([controller.createTopics([newTopic('a')], false), controller.createTopics([newTopic('a')], false)])
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected'])
    controller.lost()
    expect(metadata.image().controllerId).toBe(2)
    await expect(controller.createTopics([newTopic('a')], false)).rejects.toMatchObject({ code: 'MR_CLUSTER_NOT_CONTROLLER', details: { leaderId: 2 } })
    losing = false
    controller.led(9)
    const [created] = await controller.createTopics([newTopic('a')], false)
    expect(created!.error).toBeUndefined()
    expect(metadata.image()).toMatchObject({ controllerId: 1 })
    await stop()
  })
})

describe('subscribers', () => {
  it('are told all topics at once, then each change in order, until they end it', async () => {
    const { controller, metadata, stop } = await startController(engine())
    await controller.registerBroker(registration(1))
    await controller.createTopics([newTopic('a')], false)
    const told: string[] = []
    const names = (topics: readonly TopicImage[]): string => topics.map((topic) => topic.name).join()
    const end = metadata.subscribe((_image, { created, deleted, changed }) => told.push(`+${names(created)} -${names(deleted)} ~${names(changed)}`))
    await controller.createTopics([newTopic('b')], false)
    await controller.registerBroker(registration(1, 1))
    await controller.deleteTopics([{ name: 'a', id: zeroUuid }])
    end()
    await controller.createTopics([newTopic('c')], false)
    expect(told).toEqual(['+a - ~', '+b - ~', '+ - ~a,b', '+ -a ~'])
    await stop()
  })
})
