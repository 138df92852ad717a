import { describe, expect, it } from 'vitest'
import { commandFor, few, runProtocol, type CrashCase } from '../crash/images/crash-protocol.ts'
import { begun } from '../crash/images/protocols/acts.ts'
import { storeProtocol } from '../crash/images/store-protocol.ts'
import { crashProtocols } from '../crash/images/crash-protocols.ts'
import { seedsOf } from './seeds.ts'

/** A fixed part of what `npm run crash:images` does; `CRASH_SEEDS` and `SEED` ask for others, and for all of their moments. */
const seeds = seedsOf([1])
const isAsked = process.env['CRASH_SEEDS'] !== undefined || process.env['SEED'] !== undefined
/** Those that differ most where each partition is synced on its own, which seed 3 asks for. */
const withoutRedo = /^(roll|rolls at once|checkpoint|snapshot|truncate|compaction|topic create|topic delete|all by chance|append and roll, slow syncs|two data directories|disk that fails)$/

describe('a power cut within the steps of', () => {
  it.each(crashProtocols.map(protocol => [protocol.name, protocol] as const))('%s loses nothing that was promised, and is recovered once and for all', async (_name, protocol) => {
    for (const seed of seeds) {
      const { images, faults } = await runProtocol(protocol, { seed, ...few, ...(isAsked ? { momentsMax: Infinity } : {}) })
      expect(faults.map(fault => `${fault.step}, with ${fault.what}: ${fault.reason}; of all images it may be another one of ${commandFor(fault)}`), `seed ${seed}`).toEqual([])
      expect(images).toBeGreaterThan(2)
    }
  })

  it.each(crashProtocols.filter(({ name }) => withoutRedo.test(name)).map(protocol => [protocol.name, protocol] as const))('%s loses nothing where each partition is synced on its own', async (_name, protocol) => {
    const { images, faults } = await runProtocol(protocol, { seed: 3, ...few })
    expect(faults.map(fault => `${fault.step}, with ${fault.what}: ${fault.reason}; of all images it may be another one of ${commandFor(fault)}`)).toEqual([])
    expect(images).toBeGreaterThan(2)
  })

  it('rolls at once leaves a log that is served, whichever of the names of its segments and indexes are there', async () => {
    const protocol = crashProtocols.find(({ name }) => name === 'rolls at once')!
    const { images, faults } = await runProtocol(protocol, { seed: 3, most: 16, random: 12, momentsMax: 8 })
    expect(faults.map(commandFor)).toEqual([])
    expect(images).toBeGreaterThan(60)
  })

  // Seed 500 of the first is one whose fault has met no call when all is done.
  it.each(crashProtocols.filter(({ name }) => /fail/.test(name)).map(protocol => [protocol.name, protocol] as const))('%s leaves a redo log whose files become free again, where none was cut', async (_name, protocol) => {
    for (const seed of [500, 501, 502]) {
      const notCrashed = (await protocol.play(seed)).at(-1)!
      for (const { check } of notCrashed.cases(few)) await expect(check(0), `seed ${seed}`).resolves.toBe('recovered')
    }
  })
})

describe('a protocol of crash images', () => {
  it.each(['power cut', 'kill'] as const)('is refused where a %s comes while moments are taken: of the disk that it leaves there would be none', async how => {
    const protocol = storeProtocol({ name: 'restart', run: stage => stage.restart(how) })
    await expect(protocol.play(1)).rejects.toThrow('do this in `prepare`')
    await expect(storeProtocol({ name: 'restart before', prepare: async stage => { await stage.start(); await stage.restart(how) }, run: () => {} }).play(1)).resolves.toHaveLength(2)
  })

  it.each([false, true])('has a fault where a data directory is out of service in the end, unless its disk may fail: %s', async isTroubled => {
    const protocol = storeProtocol({
      name: 'failing', isTroubled, prepare: begun(1),
      run: async (stage, [log]) => {
        stage.fail({ operation: 'sync', path: /./, error: 'EIO' })
        stage.put(log!)
        await stage.turns(50)
      },
    })
    const [{ check }] = [...(await protocol.play(1)).at(-1)!.cases(few)] as [CrashCase]
    if (isTroubled) await expect(check(0)).resolves.toBe('recovered')
    else await expect(check(0)).rejects.toThrow('out of service, on a disk that did not fail: /data, for ')
  })
})
