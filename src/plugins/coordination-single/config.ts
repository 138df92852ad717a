import { z } from 'zod'

export const coordinationSingleConfig = z.object({
  path: z.string().min(1).optional()
    .describe('Directory of the metadata log; by default __millrace_metadata in the first data directory.'),
  snapshotEntries: z.number().int().min(1).default(10_000)
    .describe('Commands after which a snapshot replaces the log before it.'),
  snapshotBytes: z.number().int().min(1).default(16_777_216)
    .describe('Bytes of commands after which a snapshot replaces the log before it.'),
  reserveBytes: z.number().int().min(0).max(1_073_741_824).default(4_194_304)
    .describe('Kept back on the disk of the metadata, and the least that has to be free beside it for new topics; 0: neither.'),
})
