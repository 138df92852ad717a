/** A script whose workers double numbers, and cannot stand 13. */
import { isWorker, serveTasks } from '../../../scripts/worker-pool.ts'

export const double = (task: number): Promise<number> => task === 13 ? Promise.reject(new Error('thirteen')) : Promise.resolve(2 * task)

if (isWorker()) serveTasks(double)
