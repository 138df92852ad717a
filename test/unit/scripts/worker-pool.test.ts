import { describe, expect, it } from 'vitest'
import { WorkerPool } from '../../../scripts/worker-pool.ts'
import { double } from './doubling.ts'

async function run(jobs: number, tasks: readonly number[]): Promise<[task: number, answer: number][]> {
  const taken: [number, number][] = []
  const pool = new WorkerPool<number, number>({ script: new URL('./doubling.ts', import.meta.url).href, jobs, run: double })
  try {
    await pool.each(tasks, (answer, task) => { taken.push([task, answer]) })
  } finally {
    pool.close()
  }
  return taken
}

describe.each([1, 2])('a pool of %i', jobs => {
  it('does each task once, and gives each answer with its task', async () => {
    const tasks = Array.from({ length: 20 }, (_, index) => index + 20)
    const taken = await run(jobs, tasks)
    expect(taken.sort(([left], [right]) => left - right)).toEqual(tasks.map(task => [task, 2 * task]))
  })

  it('rejects when a task does', async () => {
    await expect(run(jobs, [1, 2, 13])).rejects.toThrow(jobs === 1 ? 'thirteen' : 'a worker ended with 1 at 13')
  })
})
