import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { zeroUuid } from '../../src/kernel/model/ids.ts'
import { ClusterMetadata } from '../../src/kernel/ports/cluster-metadata.ts'
import { Controller, type CreateTopic } from '../../src/kernel/ports/controller.ts'
import { Replicator } from '../../src/kernel/ports/replicator.ts'
import { metadataHost } from './metadata-composition.ts'

const incarnation = (life: number): string => `B${String(life).padStart(20, '0')}A`
const registration = (life: number) => ({ nodeId: 1, incarnationId: incarnation(life), endpoints: [], rack: undefined, directoryIds: [] })
const topic = (name: string, configs: Record<string, string> = {}): CreateTopic =>
  ({ name, partitions: 2, replicationFactor: -1, assignment: undefined, configs: new Map(Object.entries(configs)) })

let directory: string
beforeEach(() => { directory = mkdtempSync(join(tmpdir(), 'millrace-metadata-')) })
afterEach(() => rmSync(directory, { recursive: true }))

describe('metadata, logs and replicas, wired as a broker', () => {
  it('a topic that is created has its replicas at once, and is there after a restart with its settings and new leader epochs', async () => {
    const first = metadataHost(directory, incarnation(1))
    await first.start()
    await first.get(Controller).registerBroker(registration(1))
    const [created] = await first.get(Controller).createTopics([topic('a', { 'retention.ms': '1234' })], false)
    expect(first.get(Replicator).replica(created!.id, 1)).toMatchObject({ leader: true, leaderEpoch: 0 })
    expect(await first.stop()).toEqual([])

    const second = metadataHost(directory, incarnation(2))
    await second.start()
    expect(second.get(ClusterMetadata).image().topics.get('a')).toMatchObject({ id: created!.id, settings: { retentionMs: 1234 } })
    await second.get(Controller).registerBroker(registration(2))
    expect(second.get(Replicator).replica(created!.id, 0)).toMatchObject({ leader: true, leaderEpoch: 1, settings: { retentionMs: 1234 } })
    await second.get(Controller).deleteTopics([{ name: 'a', id: zeroUuid }])
    expect(second.get(Replicator).replica(created!.id, 0)).toBeUndefined()
    expect(await second.stop()).toEqual([])
  })

  it('a second broker on the same directory is refused, the first goes on', async () => {
    const first = metadataHost(directory, incarnation(1))
    await first.start()
    await expect(metadataHost(directory, incarnation(2)).start()).rejects.toThrow(/in use by another broker/)
    await first.get(Controller).registerBroker(registration(1))
    await first.stop()
  })
})

describe('kill -9', () => {
  it('loses no topic that was acknowledged, through several lives', async () => {
    const acknowledged = new Map<string, string>()
    for (let life = 1; life <= 3; life++) {
      await killedAfter(directory, life, 40 * life, acknowledged)
      const host = metadataHost(directory, incarnation(100 + life))
      await host.start()
      const { topics } = host.get(ClusterMetadata).image()
      for (const [name, id] of acknowledged) expect(topics.get(name)?.id, name).toBe(id)
      // One more may have been written and not acknowledged, for each of the two under way.
      expect(topics.size).toBeLessThanOrEqual(acknowledged.size + 2 * life)
      await host.stop()
    }
    expect(acknowledged.size).toBeGreaterThan(200)
  })
})

/** Runs the child until it has printed so many lines, then kills it. */
function killedAfter(path: string, life: number, lines: number, acknowledged: Map<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', join(import.meta.dirname, 'metadata-child.ts'), path, String(life)], { stdio: ['ignore', 'pipe', 'pipe'] })
    let [printed, rest, errors] = [0, '', '']
    child.stderr.on('data', (bytes: Buffer) => { errors += bytes.toString() })
    child.stdout.on('data', (bytes: Buffer) => {
      const parts = (rest + bytes.toString()).split('\n')
      rest = parts.pop()!
      for (const line of parts) {
        const [name, id] = line.split(' ') as [string, string]
        acknowledged.set(name, id)
        printed++
      }
      if (printed >= lines) child.kill('SIGKILL')
    })
    child.on('close', () => (printed >= lines ? resolve() : reject(new Error(errors))))
  })
}
