import { describe, expect, it } from 'vitest'
import { zeroUuid } from '../../../../src/kernel/model/ids.ts'
import { type ClusterImage } from '../../../../src/kernel/ports/cluster-metadata.ts'
import { type ConfigChange } from '../../../../src/kernel/ports/controller.ts'
import { CrashDisk } from '../coordination-single/crash-key-value.ts'
import { makeController, type RunningController } from './controller-bench.ts'
import { newTopic, registration } from './core/metadata-fixtures.ts'

/** What was answered, in order: each must hold after any crash that follows. */
interface Answer {
  readonly said: string
  readonly holds: (image: ClusterImage & { readonly nextProducerId: number }) => boolean
}

/** What a later answer overrules is left out of the earlier one. */
async function workload({ controller }: RunningController, answers: Answer[]): Promise<void> {
  const answer = (said: string, holds: Answer['holds']): void => void answers.push({ said, holds })
  const epoch = await controller.registerBroker(registration(1))
  answer('registered', (image) => image.brokers.get(1)!.epoch >= epoch)
  for (const name of ['a', 'b', 'c']) {
    const [created] = await controller.createTopics([newTopic(name, { configs: new Map([['retention.ms', '9']]) })], false)
    if (name !== 'b') answer(`created ${name}`, (image) => image.topics.get(name)?.id === created!.id && [3, 7].includes(image.topics.get(name)!.partitions.length))
  }
  const alter = (changes: readonly ConfigChange[]) => controller.alterConfigs([{ topic: 'a', replaces: false, changes }, { topic: 'c', replaces: true, changes }], false)
  await alter([{ name: 'retention.ms', operation: 'set', value: '77' }, { name: 'segment.ms', operation: 'set', value: '5' }])
  answer('segment.ms set', (image) => ['a', 'c'].every((name) => image.topics.get(name)!.settings.segmentMs === 5))
  await alter([{ name: 'retention.ms', operation: 'delete', value: null }, { name: 'segment.ms', operation: 'set', value: '5' }])
  answer('retention.ms deleted', (image) => ['a', 'c'].every((name) => !image.topics.get(name)!.overrides.has('retention.ms')))
  await controller.deleteTopics([{ name: 'b', id: zeroUuid }])
  await controller.createPartitions([{ name: 'c', partitions: 7, assignment: undefined }], false)
  answer('extended c', (image) => image.topics.get('c')!.partitions.length === 7)
  answer('deleted b', (image) => !image.topics.has('b'))
  for (let count = 0; count < 3; count++) {
    const { first } = await controller.allocateProducerIds(1, epoch)
    answer(`producer ids ${first}`, (image) => image.nextProducerId >= first + 1000)
  }
  const again = await controller.registerBroker(registration(1, 1))
  answer('registered again', (image) => image.brokers.get(1)!.epoch === again && image.topics.get('a')!.partitions.every((partition) => partition.leaderEpoch === 1))
}

describe('killed at any write of the metadata', () => {
  it('everything that was answered holds after the restart, and epochs never go back', async () => {
    const whole = new CrashDisk()
    const calm = makeController(whole.boot().engine, { snapshotEntries: 3 })
    await calm.start()
    await workload(calm, [])
    const writes = whole.writes
    await calm.stop()
    for (let crashAt = 1; crashAt <= writes; crashAt++) {
      for (const carriedOut of [false, true]) {
        const title = `write ${crashAt}, ${carriedOut ? '' : 'not '}carried out`
        const disk = new CrashDisk()
        const answers: Answer[] = []
        const { engine, crashed } = disk.boot(crashAt, carriedOut)
        const dying = makeController(engine, { snapshotEntries: 3 })
        const work = dying.start().then(() => workload(dying, answers))
        await Promise.race([crashed, work])
        const held = [...answers]
        const next = makeController(disk.boot().engine, { snapshotEntries: 3 })
        await next.start()
        const image = next.metadata.image()
        for (const { said, holds } of held) expect(holds(image), `${title}: ${said}`).toBe(true)
        expect(image.index, title).toBeGreaterThanOrEqual(dying.metadata.image().index)
        for (const topic of image.topics.values()) expect(topic.name === 'c' ? [3, 7] : [3], title).toContain(topic.partitions.length)
        const epoch = await next.controller.registerBroker(registration(1, 7))
        for (const broker of dying.metadata.image().brokers.values()) expect(epoch, title).toBeGreaterThan(broker.epoch)
        await next.stop()
      }
    }
  })
})
