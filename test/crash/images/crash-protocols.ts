import { type CrashProtocol } from './crash-protocol.ts'
import { compacting } from './protocols/compaction-protocols.ts'
import { metadata } from './protocols/metadata-protocols.ts'
import { reclaims } from './protocols/reclaim-protocols.ts'
import { recovering } from './protocols/recover-protocols.ts'
import { restarting } from './protocols/restart-protocols.ts'
import { several, slow } from './protocols/slow-protocols.ts'
import { appending, cutting, directories, keeping, mixed, slices } from './protocols/store-protocols.ts'
import { troubles } from './protocols/trouble-protocols.ts'

/** Every way in which files are changed. What is to survive a power cut and is not here yet is added here. */
export const crashProtocols: readonly CrashProtocol[] = [...appending, ...keeping, ...slices, ...cutting, ...compacting, ...directories, ...mixed, ...restarting, ...reclaims, ...troubles, ...slow, ...several, ...metadata, ...recovering]
