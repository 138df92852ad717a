import { expect, test } from 'vitest'
import { MemoryFileSystem } from '../../../../src/testkit/world/memory-file-system.ts'
import { bytesOf, codeOf, filled, putSynced, runsOf } from './disk-files.ts'

/** `/a` was 9 and is 1, `/b` is 5. */
function disk(): MemoryFileSystem {
  const files = new MemoryFileSystem({ blockBytes: 512 })
  const file = putSynced(files, '/a', filled(1200, 9))
  file.write([filled(1200, 1)], 0)
  file.syncNow()
  putSynced(files, '/b', filled(600, 5))
  return files
}

const cases: Readonly<Record<string, readonly [damage: (files: MemoryFileSystem) => unknown, left: string]>> = {
  'bit flipped': [({ damage }) => damage.flipBit('/a', 1, 7), '1x1 1x129 1198x1 | 600x5'],
  'block zeroed': [({ damage }) => damage.zeroBlock('/a', 1024), '1024x1 176x0 | 600x5'],
  'bytes overwritten': [({ damage }) => damage.overwrite('/a', 3, filled(2, 4)), '3x1 2x4 1195x1 | 600x5'],
  'block stale': [({ damage }) => damage.staleBlock('/a', 512), '512x1 512x9 176x1 | 600x5'],
  'blocks swapped': [({ damage }) => damage.swapBlocks({ path: '/a', position: 0 }, { path: '/b', position: 0 }), '512x5 688x1 | 512x1 88x5'],
  'file truncated': [({ damage }) => damage.truncate('/a', 700), '700x1 | 600x5'],
  'file removed': [({ damage }) => damage.remove('/b'), '1200x1 | none'],
}

for (const [kind, [damage, left]] of Object.entries(cases)) {
  test(`${kind}: readers see it, a power cut does not heal it, nobody is told, and it is counted`, () => {
    const files = disk()
    files.observe = () => { throw new Error('seen') }
    damage(files)
    files.observe = undefined
    const found = (each: MemoryFileSystem): string => ['/a', '/b'].map(path => each.stat(path) === undefined ? 'none' : runsOf(bytesOf(each, path))).join(' | ')
    expect([found(files), found(files.afterCrash({ keepUnsynced: 'none' }))]).toEqual([left, left])
    expect([files.unsyncedChanges(), files.counts.of(`at rest: ${kind}`)]).toEqual([0, 1])
  })
}

test('damage of what was not synced yet is there when it is synced, and every version of a block has it', () => {
  const files = new MemoryFileSystem({ blockBytes: 512 })
  const file = putSynced(files, '/a', filled(100, 1))
  file.write([filled(512, 2)], 50)
  file.write([filled(512, 3)], 51)
  const forked = files.afterCrash({ keepUnsynced: 'all' })
  files.damage.flipBit('/a', 60, 7)
  files.damage.zeroBlock('/a', 512, 1)
  expect(runsOf(bytesOf(files, '/a'))).toBe('50x1 1x2 9x3 1x131 451x3 1x0 50x3')
  file.syncNow()
  expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a'))).toBe('50x1 1x2 9x3 1x131 451x3 1x0 50x3')
  file.write([filled(1, 4)], 1000)
  files.damage.truncate('/a', 70)
  file.syncNow()
  expect(runsOf(bytesOf(files.afterCrash({ keepUnsynced: 'none' }), '/a'))).toBe('50x1 1x2 9x3 1x131 9x3')
  expect(runsOf(bytesOf(forked, '/a'))).toBe('50x1 1x2 512x3')
})

test('damage of what is not there is refused, and a block without an earlier version is no stale block', () => {
  const files = disk()
  expect(codeOf(() => { files.damage.flipBit('/none', 0, 0) })).toBe('MR_FILE_NOT_FOUND')
  expect(codeOf(() => { files.damage.zeroBlock('/a', 1200) })).toBe('MR_FILE_NOT_FOUND')
  expect(files.damage.staleBlock('/b', 0)).toBe(true)
  expect(runsOf(bytesOf(files, '/b'))).toBe('512x0 88x5')
  expect(files.damage.staleBlock('/b', 0)).toBe(false)
})

test('a removed file leaves its room, and its name in no crash', () => {
  const files = new MemoryFileSystem({ capacityBytes: 1000 })
  files.open('/a', 'create').write([filled(100, 1)], 0)
  files.damage.remove('/a')
  expect([files.space('/').freeBytes, files.list('/'), files.afterCrash({ keepUnsynced: 'none' }).list('/'), files.unsyncedChanges()]).toEqual([1000, [], [], 0])
})
