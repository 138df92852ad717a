import { describe, expect, test } from 'vitest'
import { Prng } from '../../../../src/base/prng.ts'
import { isMillraceError } from '../../../../src/kernel/errors/index.ts'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { SeededRandom } from '../../../../src/testkit/world/seeded-random.ts'
import { bytesOf, firstSeed, runsOf } from './disk-files.ts'

const paths = ['/a', '/b', '/x', '/x/a', '/x/b', '/y', '/y/a', '/y/d', '/y/d/a']

function treeOf(files: MemoryFileSystem, path = ''): string {
  return files.list(path === '' ? '/' : path).map(name => {
    const child = `${path}/${name}`
    return files.stat(child)!.kind === 'directory' ? `${name}{${treeOf(files, child)}}` : `${name}[${runsOf(bytesOf(files, child))}]`
  }).join(' ')
}

/** One call that changes something, if it can. */
function change(files: MemoryFileSystem, prng: Prng, { syncs }: { readonly syncs: boolean }): void {
  const path = prng.pick(paths)
  try {
    const kind = prng.below(syncs ? 12 : 9)
    if (kind < 3) files.open(path, 'ensure').write([new Uint8Array(1 + prng.below(1500)).fill(prng.below(256))], prng.below(1500))
    else if (kind < 4) files.open(path, 'update').truncate(prng.below(2000))
    else if (kind < 5) files.makeDirectory(path)
    else if (kind < 7) files.rename(path, prng.pick(paths))
    else if (kind < 8) files.remove(path)
    else if (kind < 9) files.open(path, 'create')
    else if (kind < 11) files.open(path, 'update').syncNow()
    else files.syncDirectory(path)
  } catch (error) {
    if (!isMillraceError(error)) throw error
  }
}

describe.each(['ordered', 'each'] as const)('any history, names %s', names => {
  test('what a killed process leaves may lose to a power cut what that one might have lost, and nothing else', () => {
    const seed = firstSeed()
    for (let round = 0; round < 30; round++) {
      const prng = new Prng(seed + round)
      const files = new MemoryFileSystem({ names })
      for (let step = 0; step < 60; step++) change(files, prng, { syncs: true })
      const killed = files.afterCrash({ keepUnsynced: 'all' })
      expect([treeOf(killed), killed.unsyncedChanges()], `seed ${seed + round}`).toEqual([treeOf(files), files.unsyncedChanges()])
      for (let cut = 0; cut < 20; cut++) {
        const [one, other] = [files, killed].map(each => treeOf(each.afterCrash({ keepUnsynced: new SeededRandom(cut) })))
        expect(other, `seed ${seed + round}, cut ${cut}`).toBe(one)
      }
      // They go their own ways from there.
      const before = treeOf(files)
      for (let step = 0; step < 20; step++) change(killed, prng, { syncs: true })
      expect(treeOf(files), `seed ${seed + round}`).toBe(before)
    }
  })

  test('changes that reach the disk in their order leave what was seen after the last of them', () => {
    const seed = firstSeed()
    let compared = 0
    for (let round = 0; round < 30; round++) {
      const prng = new Prng(seed + round)
      const files = new MemoryFileSystem({ names })
      for (let step = 0; step < 30; step++) change(files, prng, { syncs: true })
      const seen = new Map<number, string>()
      const start = files.afterCrash({ keepUnsynced: 'none' }, { names })
      for (let step = 0; step < 25; step++) {
        change(start, prng, { syncs: false })
        seen.set(start.crashMoment().changes.length, treeOf(start))
      }
      for (const { what, files: found } of start.crashMoment().images({ random: 0 })) {
        const count = Number(/^(\d+) of/.exec(what)?.[1])
        const expected = what === 'everything unsynced' ? treeOf(start) : seen.get(count)
        if (expected === undefined) continue
        expect(treeOf(found), `seed ${seed + round}, ${what}`).toBe(expected)
        compared++
      }
    }
    expect(compared).toBeGreaterThan(150)
  })

  test('whatever a power cut leaves is a file system that works, and loses nothing more', () => {
    const seed = firstSeed()
    for (let round = 0; round < 40; round++) {
      const prng = new Prng(seed + round)
      let files = new MemoryFileSystem({ names, capacityBytes: 1_000_000 })
      for (let life = 0; life < 5; life++) {
        for (let step = 0; step < 30; step++) change(files, prng, { syncs: true })
        files = files.afterCrash({ keepUnsynced: new SeededRandom(prng.uint32()) })
        expect(files.unsyncedChanges(), `seed ${seed + round}`).toBe(0)
        expect(treeOf(files.afterCrash({ keepUnsynced: 'none' })), `seed ${seed + round}`).toBe(treeOf(files))
      }
      for (const name of files.list('/')) files.remove(`/${name}`)
      expect(files.space('/').freeBytes, `seed ${seed + round}`).toBe(1_000_000)
    }
  })
})
