import { Controller } from '../../src/kernel/ports/controller.ts'
import { metadataHost } from './metadata-composition.ts'

/** Creates topics for ever and prints the name of each one when it was acknowledged; meant to be killed. */
const [directory, life] = process.argv.slice(2) as [string, string]
const host = metadataHost(directory, `B${life.padStart(20, '0')}A`)
await host.start()
const controller = host.get(Controller)
await controller.registerBroker({ nodeId: 1, incarnationId: `B${life.padStart(20, '0')}A`, endpoints: [], rack: undefined, directoryIds: [] })
for (let count = 0; ; count++) {
  const names = [`life-${life}-${count}-a`, `life-${life}-${count}-b`]
  await Promise.all(names.map(async (name) => {
    const [topic] = await controller.createTopics([{ name, partitions: 2, replicationFactor: 1, assignment: undefined, configs: new Map() }], false)
    if (topic!.error !== undefined) throw topic!.error
    process.stdout.write(`${name} ${topic!.id}\n`)
  }))
}
