import { type BrokerSettings } from '../../kernel/ports/broker-settings.ts'
import { type CleanerOptions } from './cleaner.ts'

/** What `log.cleaner.*` come to. */
export function cleanerSettings(settings: BrokerSettings): Omit<CleanerOptions, 'logs' | 'threads'> {
  const bytesPerSecond = Number(settings.text('log.cleaner.io.max.bytes.per.second'))
  return {
    enabled: settings.flag('log.cleaner.enable'),
    backoffMs: Math.max(1, settings.integer('log.cleaner.backoff.ms')),
    mapBytesMax: Math.min(settings.integer('log.cleaner.dedupe.buffer.size'), mapBytesMost),
    loadFactor: Number(settings.text('log.cleaner.io.buffer.load.factor')),
    ioBytes: Math.max(ioBytesLeast, settings.integer('log.cleaner.io.buffer.size')),
    bytesPerSecond,
  }
}

/** An array has no more elements than 2^32 in every release of Node; so many bytes hold 300 million keys. */
const mapBytesMost = 8 * 1024 ** 3
const ioBytesLeast = 4096
