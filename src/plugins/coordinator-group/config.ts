import { z } from 'zod'

/** What can be set about groups under Kafka's names are settings of the broker; this is the rest. */
export const coordinatorGroupConfig = z.object({
  lagSeriesMax: z.number().int().min(0).default(10_000)
    .describe('Partitions of groups whose lag `/metrics` tells, most; each is a series. 0 tells none.'),
})
