import { Prng } from '../../../../src/base/prng.ts'
import { type Consensus } from '../../../../src/kernel/ports/consensus.ts'
import { type FileSystem } from '../../../../src/kernel/ports/file-system.ts'
import { type KeyValueEngine } from '../../../../src/kernel/ports/key-value-store.ts'
import { ControllerService } from '../../../../src/plugins/cluster-metadata/controller-service.ts'
import { MetadataPublisher } from '../../../../src/plugins/cluster-metadata/metadata-publisher.ts'
import { SingleVoter } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { nullLogger } from '../../../../src/testkit/world/null-telemetry.ts'
import { voterWorld } from '../coordination-single/voter-world.ts'
import { clusterId, rules, settingsOf } from './core/metadata-fixtures.ts'

export interface RunningController {
  readonly controller: ControllerService
  readonly metadata: MetadataPublisher
  readonly consensus: SingleVoter
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ControllerOptions {
  readonly clusterId?: string
  readonly snapshotEntries?: number
  /** Where an engine keeps its stores, if it takes space. */
  readonly files?: FileSystem
  /** That there is one tells a store that is gone from one that was never made. */
  readonly foundPartition?: string
  /** Another one for each life, where ids must not repeat. */
  readonly seed?: number
  readonly wrap?: (consensus: Consensus) => Consensus
}

/** Voter, controller and publisher over an engine, not started. */
export function makeController(engine: KeyValueEngine, options: ControllerOptions = {}): RunningController {
  const fatal = { fatal: (error: unknown) => { throw error } }
  const consensus = new SingleVoter({ nodeId: 1, clusterId: options.clusterId ?? clusterId, path: '/meta', snapshotEntries: options.snapshotEntries ?? 1000, snapshotBytes: 1 << 24, reserveBytes: 0, foundPartition: options.foundPartition }, voterWorld(engine, fatal, options.files))
  const metadata = new MetadataPublisher()
  const random = new Prng(options.seed ?? 1)
  const controller = new ControllerService({ clusterId: options.clusterId ?? clusterId, rules, settingsOf }, options.wrap?.(consensus) ?? consensus, metadata,
    () => random.uint32(), nullLogger)
  return {
    controller, metadata, consensus,
    start: async () => {
      await consensus.start()
      await controller.start()
    },
    stop: async () => {
      await controller.stop()
      await consensus.stop()
    },
  }
}

export async function startController(engine: KeyValueEngine, options: ControllerOptions = {}): Promise<RunningController> {
  const running = makeController(engine, options)
  await running.start()
  return running
}
