import { z } from 'zod'

export const clusterMetadataConfig = z.object({
  partitionsMax: z.number().int().min(1).default(10_000)
    .describe('Most partitions of a topic, and of the topics of one request together.'),
})
