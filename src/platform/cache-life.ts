import * as fs from 'node:fs'

/**
 * File systems of this machine's own kernel, by the magic number that statfs gives (linux/magic.h): what was written to them is in the page
 * cache for as long as the kernel runs. Of others a daemon or a server may go down alone.
 */
const ownFileSystems: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x5846_5342, // XFS
  0x9123_683e, // btrfs
  0xf2f5_2010, // F2FS
  0x2fc1_2fc1, // ZFS
  0x0102_1994, // tmpfs
])

/** Drawn by the kernel when it starts (proc(5)); only Linux has it. */
const bootIdPath = '/proc/sys/kernel/random/boot_id'

/** See `PageCache`. */
export function cacheLifeOf(path: string, bootId = readBootId): string | undefined {
  const found = fs.statSync(path, { throwIfNoEntry: false, bigint: true })
  if (found?.isFile() !== true || !ownFileSystems.has(fs.statfsSync(path).type)) return undefined
  const boot = bootId()
  return boot === undefined ? undefined : `${boot} ${found.dev} ${found.ino}`
}

function readBootId(): string | undefined {
  try {
    return /^[0-9a-f-]{36}$/.exec(fs.readFileSync(bootIdPath, 'latin1').trim())?.[0]
  } catch {
    return undefined
  }
}
