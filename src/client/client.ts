import { MillraceError } from '../kernel/errors/index.ts'
import { Admin } from './admin/admin.ts'
import { settingError, type ClientSettings } from './client-options.ts'
import { type ClientWorld } from './client-world.ts'
import { BrokerPool } from './cluster/broker-pool.ts'
import { Metadata } from './cluster/metadata.ts'
import { Consumer } from './consumer/consumer.ts'
import { consumerSettings, type ConsumerOptions } from './consumer/consumer-settings.ts'
import { GroupConsumer } from './group/group-consumer.ts'
import { groupSettings, type GroupOptions } from './group/group-settings.ts'
import { consumerOptionNames, groupOptionNames, producerOptionNames, refuseUnknown } from './known-options.ts'
import { Producer } from './producer/producer.ts'
import { producerSettings, type ProducerOptions } from './producer/producer-settings.ts'

interface Member {
  close(): Promise<void>
}

/**
 * One cluster, as seen from one application: the connections and the picture of the cluster that its producers, consumers and admins share. Nothing is
 * connected before somebody needs it.
 */
export class Client {
  private readonly world: ClientWorld
  private readonly settings: ClientSettings
  private readonly pool: BrokerPool
  private readonly metadata: Metadata
  private readonly closesWithLast: boolean
  private readonly members = new Set<Member>()
  private closing: Promise<void> | undefined

  /** With `closesWithLast` it closes when the last thing made from it has. */
  constructor(world: ClientWorld, settings: ClientSettings, closesWithLast = false) {
    this.world = world
    this.closesWithLast = closesWithLast
    this.settings = settings
    this.pool = new BrokerPool(world, settings)
    this.metadata = new Metadata(world, settings, this.pool)
  }

  /** A producer over the connections of this client. Throws MR_CLIENT_SETTING, and MR_CLIENT_CLOSED after `close`. */
  producer(options: ProducerOptions = {}): Producer {
    refuseUnknown(options, producerOptionNames)
    const settings = producerSettings(options)
    if (settings.codec !== 0 && !this.world.compression.available(settings.codec)) {
      throw new MillraceError('MR_CLIENT_SETTING', { key: 'compression', reason: `no codec for ${String(options.compression)} is installed` })
    }
    return this.join(onClosed => new Producer({ ...this.shared(), settings, onClosed }))
  }

  /** Of a group, where `groupId` names one; else of partitions that it is told to read. Throws MR_CLIENT_SETTING, and MR_CLIENT_CLOSED after `close`. */
  consumer(options: ConsumerOptions & GroupOptions): GroupConsumer
  consumer(options?: ConsumerOptions): Consumer
  consumer(options: ConsumerOptions & Partial<GroupOptions> = {}): Consumer | GroupConsumer {
    refuseUnknown(options, consumerOptionNames)
    if (options.groupId !== undefined) return this.groupConsumer(options as ConsumerOptions & GroupOptions)
    const ofGroups = groupOptionNames.find(name => (options as Readonly<Record<string, unknown>>)[name] !== undefined)
    if (ofGroups !== undefined) throw settingError(ofGroups, 'it is for members of groups; give a groupId')
    return this.join(onClosed => new Consumer({ ...this.shared(), settings: consumerSettings(options), onClosed }))
  }

  private groupConsumer(options: ConsumerOptions & GroupOptions): GroupConsumer {
    const group = groupSettings(options)
    const onOffsetOutOfRange = options.onOffsetOutOfRange ?? (typeof group.offsetReset === 'object' ? 'earliest' : group.offsetReset)
    const settings = consumerSettings({ ...options, onOffsetOutOfRange })
    return this.join(onClosed => new GroupConsumer({ ...this.shared(), settings, group, onClosed }))
  }

  /** An admin over the connections of this client. Throws MR_CLIENT_CLOSED after `close`. */
  admin(): Admin {
    return this.join(onClosed => new Admin({ ...this.shared(), onClosed }))
  }

  /** Closes what was made from it, the producers with what they have under way, then the connections. Never rejects. */
  close(): Promise<void> {
    this.closing ??= this.shut()
    return this.closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private shared(): { world: ClientWorld, client: ClientSettings, pool: BrokerPool, metadata: Metadata } {
    return { world: this.world, client: this.settings, pool: this.pool, metadata: this.metadata }
  }

  private join<M extends Member>(make: (onClosed: () => Promise<void>) => M): M {
    if (this.closing !== undefined) throw new MillraceError('MR_CLIENT_CLOSED', { what: 'client' })
    const member: M = make(() => {
      this.members.delete(member)
      if (!this.closesWithLast || this.members.size > 0) return Promise.resolve()
      return this.closing ??= this.shut()
    })
    this.members.add(member)
    return member
  }

  private async shut(): Promise<void> {
    await Promise.all([...this.members].map(member => member.close()))
    this.metadata.close()
    this.pool.close()
  }
}
