import { type Uuid } from '../../../../kernel/model/ids.ts'

/** The topics of the cluster as a decision sees them. Looking never waits. */
export interface TopicDirectory {
  /** Another number whenever a topic came, went, or got more partitions. Never goes back, also not over a restart. */
  readonly version: number
  byName(name: string): { readonly id: Uuid, readonly partitions: number } | undefined
  /** Undefined for a topic that is no more. */
  nameOf(id: Uuid): string | undefined
}
