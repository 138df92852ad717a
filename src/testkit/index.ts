/**
 * For authors of plugins and for tests: conformance kits, which say what a port promises and prove it of any implementation, and a world in
 * memory (time, randomness, files, network, key-value stores, HTTP) that a seed replays.
 */
export {
  check, checkCode, checkEqual, checkRejects, checkThrows, ConformanceError, failuresOf, type DeclareTest,
} from './conformance/kit.ts'
export { timersConformance, type TimersConformance, type TimersSubject } from './conformance/clock.ts'
export { consensusConformance, type ConsensusConformance, type ConsensusSubject } from './conformance/consensus.ts'
export { fileSystemConformance, type FileSystemConformance, type FileSystemSubject } from './conformance/file-system.ts'
export { keyValueConformance, type KeyValueConformance, type KeyValueSubject } from './conformance/key-value.ts'
export { logStoreConformance, type LogStoreConformance } from './conformance/log-store.ts'
export { networkConformance, type NetworkConformance, type NetworkSubject } from './conformance/network.ts'
export { AcceptQueue, connectPair, RecordedSocket, type RecordedPair } from './conformance/recorded-socket.ts'
export { replicatorConformance, type ReplicatorConformance, type ReplicatorSubject } from './conformance/replicator.ts'

export { ManualClock, ManualTimers, testEpochMs } from './world/manual-clock.ts'
export { SeededRandom } from './world/seeded-random.ts'
export { nullLogger, nullMetrics } from './world/null-telemetry.ts'
export { RecordingLogger, RecordingMetrics, type RecordedLine } from './world/recording-telemetry.ts'
export { type KeepUnsynced } from './world/disk-file.ts'
export { FileFaults, type FileFault, type FileOperation, type FileOperationKind } from './world/file-faults.ts'
export { MemoryFileSystem, type MemoryFileSystemOptions } from './world/memory-file-system.ts'
export { MemoryHttpServer } from './world/memory-http-server.ts'
export { MemoryKeyValueEngine, type KeyValueOperation, type MemoryKeyValueOptions } from './world/memory-key-value-engine.ts'
export { MemoryNetwork, type MemoryNetworkOptions } from './world/memory-network.ts'
export { SimCompression } from './world/sim-compression.ts'
export { SimMachine, type SimMachineOptions, type SimProcess } from './world/sim-machine.ts'
export { simPlatform } from './world/sim-platform-plugin.ts'
export { SimScheduler, SimulationError, type SimSchedulerOptions } from './world/sim-scheduler.ts'
export { SimClock, SimTimers } from './world/sim-timers.ts'
export { SimTrace } from './world/sim-trace.ts'
export { SimWorld, type SimWorldOptions } from './world/sim-world.ts'
export { TraceHash } from './world/trace-hash.ts'
