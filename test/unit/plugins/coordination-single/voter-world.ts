import { type FileSystem } from '../../../../src/kernel/ports/file-system.ts'
import { type KeyValueEngine } from '../../../../src/kernel/ports/key-value-store.ts'
import { type FatalErrors } from '../../../../src/kernel/ports/lifecycle.ts'
import { type VoterWorld } from '../../../../src/plugins/coordination-single/single-voter.ts'
import { ManualClock } from '../../../../src/testkit/world/manual-clock.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { nullLogger, nullMetrics } from '../../../../src/testkit/world/null-telemetry.ts'

export const clusterId = 'AAECAwQFRgeICQoLDA0ODw'

/** All that a voter needs but its store. */
export const voterWorld = (engine: KeyValueEngine, fatal: FatalErrors, files: FileSystem = new MemoryFileSystem()): VoterWorld =>
  ({ engine, files, fatal, clock: new ManualClock(), random: new SeededRandom(1), metrics: nullMetrics, log: nullLogger })
