import { Prng } from '../../../../../src/base/prng.ts'
import { BrokerSettingsMap } from '../../../../../src/kernel/config/broker-settings-map.ts'
import { brokerValuesOf } from '../../../../../src/kernel/config/describe-configs.ts'
import { noLimits } from '../../../../../src/kernel/config/store-limits.ts'
import { type BrokerRegistration, type CreateTopic } from '../../../../../src/kernel/ports/controller.ts'
import { ControllerMachine, type ControllerCommand, type ReplyTo } from '../../../../../src/plugins/cluster-metadata/core/controller-machine.ts'
import { type Decision } from '../../../../../src/plugins/cluster-metadata/core/decision.ts'
import { ImageChanges } from '../../../../../src/plugins/cluster-metadata/core/image-changes.ts'
import { emptyImage, type MetadataImage } from '../../../../../src/plugins/cluster-metadata/core/metadata-image.ts'
import { decodeRecords, encodeRecords } from '../../../../../src/plugins/cluster-metadata/core/record-codec.ts'
import { type TopicRules } from '../../../../../src/plugins/cluster-metadata/core/topic-commands.ts'

export const clusterId = 'AAECAwQFRgeICQoLDA0ODw'

export const settings = new BrokerSettingsMap({ file: new Map([['num.partitions', '3'], ['log.retention.hours', '1']]) })
export const settingsOf = (overrides: ReadonlyMap<string, string>) => settings.topicSettings(overrides)

export const rules: TopicRules = {
  partitionsDefault: 3, replicationFactorDefault: 1, deletionAllowed: true, partitionsMax: 100, brokerValue: brokerValuesOf(settings), storeLimits: noLimits,
}

export const registration = (nodeId: number, life = 0): BrokerRegistration => ({
  nodeId,
  incarnationId: incarnation(nodeId, life),
  endpoints: [{ listener: 'PLAINTEXT', host: 'localhost', port: 9092 + nodeId }],
  rack: nodeId % 2 === 0 ? undefined : `rack-${nodeId}`,
  directoryIds: [incarnation(nodeId, 999)],
})

export const incarnation = (nodeId: number, life: number): string => `B${String(nodeId).padStart(4, '0')}${String(life).padStart(4, '0')}AAAAAAAAAAAAA`

export const newTopic = (name: string, change: Partial<CreateTopic> = {}): CreateTopic =>
  ({ name, partitions: -1, replicationFactor: -1, assignment: undefined, configs: new Map(), ...change })

/** A machine and the committed image beside it, every record going through its bytes. */
export class ControllerBench {
  readonly rules: TopicRules
  machine: ControllerMachine
  image: MetadataImage = emptyImage
  private readonly random: Prng
  private index = 0

  constructor(changes: Partial<TopicRules> = {}, seed = 1) {
    this.rules = { ...rules, ...changes }
    this.random = new Prng(seed)
    this.machine = new ControllerMachine(emptyImage, this.rules, settingsOf)
  }

  decide<C extends ControllerCommand>(command: C): Decision<ReplyTo<C>> {
    return this.machine.decide(command, () => this.random.uint32())
  }

  run<C extends ControllerCommand>(command: C): ReplyTo<C> {
    const { records, reply } = this.decide(command)
    if (records.length > 0) {
      this.machine.replay(records)
      const changes = new ImageChanges(this.image, settingsOf)
      for (const record of decodeRecords(encodeRecords(records))) changes.replay(record)
      this.image = changes.finish(++this.index, 1).image
    }
    return reply
  }

  machineOver(image: MetadataImage): ControllerMachine {
    return new ControllerMachine(image, this.rules, settingsOf)
  }

  create(...topics: (string | CreateTopic)[]) {
    return this.run({ type: 'createTopics', topics: topics.map((topic) => (typeof topic === 'string' ? newTopic(topic) : topic)), validateOnly: false })
  }
}

export function benchWithBrokers(count: number, changes: Partial<TopicRules> = {}, seed = 1): ControllerBench {
  const bench = new ControllerBench(changes, seed)
  bench.run({ type: 'bootstrap', clusterId })
  for (let nodeId = 1; nodeId <= count; nodeId++) bench.run({ type: 'registerBroker', registration: registration(nodeId) })
  return bench
}
