import { token } from '../plugin/token.ts'

/** Contribution: knows who coordinates the keys of one type, for FindCoordinator. One for each type. */
export interface CoordinatorFinder {
  /** As FindCoordinator numbers them: 0 groups, 1 transactional ids, 2 share groups. */
  readonly keyType: number
  /**
   * `done` is called once, now or later, with the node id of the broker that coordinates the key, also when nobody has heard of the key before; or with an
   * error: MR_COORDINATOR_UNAVAILABLE while there is none.
   */
  find(key: string, done: (error: unknown, nodeId: number) => void): void
}
export const CoordinatorFinder = token<CoordinatorFinder>('CoordinatorFinder', { find: true })
