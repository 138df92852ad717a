import { LruCache } from '../../base/lru-cache.ts'
import { brokerValuesOf } from '../../kernel/config/describe-configs.ts'
import { MillraceError } from '../../kernel/errors/millrace-error.ts'
import { type TopicSettings } from '../../kernel/model/topic-settings.ts'
import { definePlugin } from '../../kernel/plugin/define-plugin.ts'
import { BrokerIdentity } from '../../kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { Random } from '../../kernel/ports/clock.ts'
import { ClusterMetadata } from '../../kernel/ports/cluster-metadata.ts'
import { Consensus } from '../../kernel/ports/consensus.ts'
import { Controller } from '../../kernel/ports/controller.ts'
import { Lifecycle } from '../../kernel/ports/lifecycle.ts'
import { Logger, Metrics } from '../../kernel/ports/telemetry.ts'
import { clusterMetadataConfig } from './config.ts'
import { ControllerService } from './controller-service.ts'
import { type SettingsOf } from './core/image-changes.ts'
import { type TopicRules } from './core/topic-commands.ts'
import { MetadataPublisher } from './metadata-publisher.ts'
import { observeMetadata } from './metrics.ts'

export const plugin = definePlugin({
  name: 'cluster-metadata',
  contract: 1,
  summary: 'The controller: brokers, topics, placement, leaders, settings and producer ids as agreed records.',
  provides: [ClusterMetadata, Controller],
  requires: [BrokerIdentity, BrokerSettings, Consensus, Random, Metrics, Logger],
  config: clusterMetadataConfig,
  register({ provide }, { partitionsMax }) {
    const publisher = new MetadataPublisher()
    provide([Controller, Lifecycle], [BrokerIdentity, BrokerSettings, Consensus, Random, Logger],
      (identity, settings, consensus, random, logger) => new ControllerService({
        // Not known while objects are made, where the metadata itself is to say it.
        get clusterId() { return identity.clusterId },
        rules: topicRules(settings, partitionsMax),
        settingsOf: cachedSettings(settings),
      }, consensus, publisher, () => nextUint32(random), logger))
    // After the controller, so that whoever needs the metadata starts when it is loaded.
    provide([ClusterMetadata], [Controller, Metrics], (_controller, metrics) => {
      observeMetadata(metrics, () => publisher.image())
      return publisher
    })
  },
})

function topicRules(settings: BrokerSettings, partitionsMax: number): TopicRules {
  for (const key of ['num.partitions', 'offsets.topic.num.partitions']) {
    const value = settings.integer(key)
    const reason = `a topic has at most ${partitionsMax} partitions; lower it, or raise partitionsMax of cluster-metadata`
    if (value > partitionsMax) throw new MillraceError('MR_CONFIG_INVALID', { key, value, reason })
  }
  return {
    partitionsDefault: settings.integer('num.partitions'),
    replicationFactorDefault: settings.integer('default.replication.factor'),
    deletionAllowed: settings.flag('delete.topic.enable'),
    partitionsMax,
    brokerValue: brokerValuesOf(settings),
    storeLimits: settings.storeLimits,
  }
}

/** Most topics share their settings with many others: equal overrides give one object. */
function cachedSettings(settings: BrokerSettings): SettingsOf {
  const cache = new LruCache<string, TopicSettings>({ weightMax: 256 })
  return (overrides) => {
    const key = JSON.stringify([...overrides])
    let resolved = cache.get(key)
    if (resolved === undefined) {
      resolved = settings.topicSettings(overrides)
      cache.set(key, resolved)
    }
    return resolved
  }
}

function nextUint32(random: Random): number {
  const bytes = random.bytes(4)
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | bytes[3]!) >>> 0
}
