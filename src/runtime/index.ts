/** Runs pure machines as services over partition logs; docs/decisions/0009 says how. */
export { MachineHost, type MachineHostParts } from './machine-host.ts'
export { MachinePartition, type MachinePartitionParts, type PartitionState } from './machine-partition.ts'
export { type Answer, type Decision, type Done, type MachineTime, type RecordDraft, type ReplayMachine } from '../kernel/model/replay-machine.ts'
