import { z } from 'zod'

export const replicationSingleConfig = z.object({
  partitionSeriesMax: z.number().int().min(0).default(2000)
    .describe('Partitions whose offsets and sizes `/metrics` tells, most; each is five series. 0 tells none.'),
})
