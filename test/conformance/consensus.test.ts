import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { type Consensus } from '../../src/kernel/ports/consensus.ts'
import { type FileSystem } from '../../src/kernel/ports/file-system.ts'
import { type KeyValueEngine } from '../../src/kernel/ports/key-value-store.ts'
import { LevelKeyValueEngine } from '../../src/platform/level-key-value-engine.ts'
import { NodeFileSystem } from '../../src/platform/node-file-system.ts'
import { SingleVoter } from '../../src/plugins/coordination-single/single-voter.ts'
import { consensusConformance, type ConsensusSubject } from '../../src/testkit/conformance/consensus.ts'
import { failuresOf } from '../../src/testkit/conformance/kit.ts'
import { LogKeyValueEngine } from '../../src/testkit/world/log-key-value-engine.ts'
import { MemoryFileSystem } from '../../src/testkit/world/memory-file-system.ts'
import { CrashDisk } from '../unit/plugins/coordination-single/crash-key-value.ts'
import { clusterId, voterWorld } from '../unit/plugins/coordination-single/voter-world.ts'

const fatal = { fatal: (error: unknown) => { throw error } }

async function single(engine: KeyValueEngine, path: string, dispose?: () => Promise<void>, files: FileSystem = new NodeFileSystem()): Promise<ConsensusSubject> {
  const consensus = new SingleVoter({ nodeId: 1, clusterId, path, snapshotEntries: 5, snapshotBytes: 1 << 20, reserveBytes: 0 }, voterWorld(engine, fatal, engine.takesSpace ? files : undefined))
  await consensus.start()
  return {
    consensus,
    stop: () => consensus.stop(),
    restart: async () => {
      await consensus.stop()
      return single(engine, path, dispose, files)
    },
    dispose,
  }
}

describe('coordination-single in memory', () => {
  consensusConformance({ test, create: () => single(new CrashDisk().boot().engine, '/meta') })
})

describe('coordination-single on a simulated disk', () => {
  consensusConformance({
    test,
    create: () => {
      const files = new MemoryFileSystem()
      return single(new LogKeyValueEngine(files), '/meta', undefined, files)
    },
  })
})

describe('coordination-single over LevelDB', () => {
  consensusConformance({
    test,
    create: () => {
      const directory = mkdtempSync(join(tmpdir(), 'millrace-consensus-'))
      return single(new LevelKeyValueEngine(), join(directory, 'meta'), async () => rmSync(directory, { recursive: true }))
    },
  })
})

describe('the kit', () => {
  const broken = (change: (voter: SingleVoter) => Partial<Consensus>) => async () => {
    const make = async (subject: ConsensusSubject): Promise<ConsensusSubject> => {
      const voter = subject.consensus as SingleVoter
      const real: Consensus = {
        open: (machine) => voter.open(machine), append: (commands) => voter.append(commands), checkSpace: () => voter.checkSpace(), barrier: () => voter.barrier(), status: () => voter.status(),
      }
      return { ...subject, consensus: { ...real, ...change(voter) }, restart: async () => make(await subject.restart()) }
    }
    return make(await single(new CrashDisk().boot().engine, '/meta'))
  }

  it('notices an append that resolves before it is applied', async () => {
    const failed = await failuresOf((declare) => consensusConformance({
      test: declare,
      create: broken((voter) => ({ append: (commands) => { void voter.append(commands).catch(() => {}); return Promise.resolve(1) } })),
    }))
    expect(failed).toContain('an append resolves when its commands are applied, with the index of the last')
  })

  it('notices a barrier that does not wait', async () => {
    const failed = await failuresOf((declare) => consensusConformance({ test: declare, create: broken(() => ({ barrier: () => Promise.resolve() })) }))
    expect(failed).toContain('a barrier resolves after everything that was appended before it is applied')
  })
})
